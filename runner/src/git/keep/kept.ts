/** Keeps commits that are on no branch. Refs of the runner protect them when the worktree is removed. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { Git } from '../git.ts';

const KEPT_REF = 'refs/muster/kept';

/** Files of a git directory that are not searched, because object names in them are not commits of this checkout. */
const OTHER_FILES: ReadonlySet<string> = new Set([
  'FETCH_HEAD',
  'commondir',
  'config',
  'config.worktree',
  'description',
  'gitdir',
  'index',
  'packed-refs',
]);

/** Maximum size of a file that is searched for commits. A line of a reflog has about 200 bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_NAMED = 5;

/** Joins the first few paths or refs for a message, and adds the number of the others. */
export function listed(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** Returns the ref under which a commit that is on no branch is kept. */
export function keptRef(sha: string): string {
  return `${KEPT_REF}/${sha.slice(0, 12)}`;
}

/**
 * Returns every object name in the files in which git records commits of a checkout. These files belong to HEAD, its
 * reflog, and a merge, rebase, cherry-pick or bisection in progress.
 */
export function rememberedObjects(gitDir: string): readonly string[] {
  const names = new Set<string>();
  const read = (path: string): void => {
    if (statSync(path).size > MAX_FILE_BYTES) return;
    for (const [name] of readFileSync(path, 'utf8').matchAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g))
      if (!/^0+$/.test(name)) names.add(name);
  };
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) walk(`${folder}/${entry.name}`);
      else if (entry.isFile() && !entry.name.endsWith('.lock')) read(`${folder}/${entry.name}`);
    }
  };
  for (const entry of readdirSync(gitDir, { withFileTypes: true })) {
    if (entry.isFile() && !OTHER_FILES.has(entry.name) && !entry.name.endsWith('.lock'))
      read(`${gitDir}/${entry.name}`);
  }
  for (const folder of ['refs', 'rebase-merge', 'rebase-apply', 'sequencer'])
    if (existsSync(`${gitDir}/${folder}`)) walk(`${gitDir}/${folder}`);
  if (existsSync(`${gitDir}/logs/HEAD`)) read(`${gitDir}/logs/HEAD`);
  return [...names];
}

/**
 * Returns the objects that are commits and that neither the given refs nor the other returned commits contain.
 * @param gitWith returns git bound to the repository, with the given standard input
 * @param known arguments of `git rev-list`. The commits that they select are reachable in any case
 */
export async function unreachable(
  gitWith: (input: string) => Git,
  objects: readonly string[],
  known: readonly string[],
): Promise<readonly string[]> {
  if (objects.length === 0) return [];
  const checked = await gitWith(`${objects.join('\n')}\n`)('cat-file', '--batch-check=%(objectname) %(objecttype)');
  const commits = checked.split('\n').flatMap((line) => /^(\w+) commit$/.exec(line)?.[1] ?? []);
  if (commits.length === 0) return [];
  const listed = await gitWith(`${commits.join('\n')}\n`)(
    'rev-list',
    '--parents',
    '--ignore-missing',
    '--stdin',
    '--not',
    ...known,
  );
  const lines = listed
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));
  const parents = new Set(lines.flatMap(([, ...rest]) => rest));
  return lines.flatMap(([sha = '']) => (parents.has(sha) ? [] : [sha]));
}

/**
 * Keeps every commit that was checked out in a checkout and that no ref of its repository contains.
 * @param gitWith returns git bound to the repository itself, with the given standard input
 * @returns the refs under which the commits are kept
 */
export async function keepUnreachable(
  gitWith: (input: string) => Git,
  objects: readonly string[],
): Promise<readonly string[]> {
  const lost = await unreachable(gitWith, objects, ['--all', '--single-worktree']);
  const refs: string[] = [];
  for (const sha of lost) refs.push(await keep(gitWith(''), sha));
  return refs;
}

/** Keeps a commit of the repository. Returns the ref under which the commit is kept. */
export async function keep(git: Git, sha: string): Promise<string> {
  const ref = keptRef(sha);
  await git('update-ref', '--no-deref', ref, sha);
  return ref;
}
