import { copyFileSync } from 'node:fs';
import { type Checkout, gitAt } from './checkout.ts';
import type { Git } from './git.ts';

/** Limits that keep reports readable. The branch contains all changes. */
const MAX_COMMITS = 200;
const MAX_FILES = 1000;

export interface Changes {
  readonly commits: readonly { readonly sha: string; readonly subject: string }[];
  readonly diffstat: { readonly files: number; readonly insertions: number; readonly deletions: number };
  readonly files: readonly FileChange[];
  /** Unified diff. Undefined if git cannot print it, for example because it is too large. */
  readonly diff: string | undefined;
  readonly head: string;
}

export interface FileChange {
  readonly path: string;
  readonly insertions: number;
  readonly deletions: number;
}

/**
 * Options for a diff in one format with any configuration. No program of the configuration is run, and git prints only
 * the names of binary files.
 */
const UNIFIED = [
  ...['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--submodule=short'],
  ...['--unified=3', '--src-prefix=a/', '--dst-prefix=b/'],
];

/** @param base a commit; commits that it shares with the branch are omitted */
export async function changesSince(git: Git, base: string, branch: string): Promise<Changes> {
  const ref = `refs/heads/${branch}`;
  const head = await git('rev-parse', ref);
  const log = await git('log', `--max-count=${MAX_COMMITS}`, '--format=%H%x09%s', `${base}..${ref}`);
  const commits = lines(log).map((line) => {
    const [sha = '', ...subject] = line.split('\t');
    return { sha, subject: subject.join('\t') };
  });
  const stat = await git('diff', '--numstat', '--no-renames', '-z', `${base}...${ref}`);
  const files = stat.split('\0').filter(Boolean).map(fileChange);
  const sum = (count: (file: FileChange) => number) => files.reduce((total, file) => total + count(file), 0);
  return {
    commits,
    diffstat: {
      files: files.length,
      insertions: sum((file) => file.insertions),
      deletions: sum((file) => file.deletions),
    },
    files: files.slice(0, MAX_FILES),
    diff: await git('diff', ...UNIFIED, `${base}...${ref}`).catch(() => undefined),
    head,
  };
}

/**
 * Returns the paths that differ between a commit and the files of a worktree, committed or not, in sorted order.
 * Reads the worktree with a copy of its initial index, so that it neither locks nor trusts the agent's own index.
 */
export async function changedFiles(
  checkout: Checkout,
  { base, baseline, index }: { readonly base: string; readonly baseline: string; readonly index: string },
): Promise<readonly string[]> {
  copyFileSync(baseline, index);
  const git = gitAt(checkout, { index });
  const printed = [
    await git('diff', '--name-only', '--no-renames', '--no-ext-diff', '--ignore-submodules=dirty', '-z', base),
    await git('ls-files', '--others', '--exclude-standard', '-z'),
  ];
  return [...new Set(printed.flatMap((paths) => paths.split('\0')).filter(Boolean))].sort();
}

/** For binary files, git prints "-" instead of the numbers of lines. */
function fileChange(entry: string): FileChange {
  const [insertions = '', deletions = '', ...path] = entry.split('\t');
  return { path: path.join('\t'), insertions: Number(insertions) || 0, deletions: Number(deletions) || 0 };
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
