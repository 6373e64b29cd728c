/** Keeps the commits of repositories inside a worktree, because removing the worktree would delete them. */
import { existsSync, readdirSync } from 'node:fs';
import { type Checkout, gitAt } from '../checkout.ts';
import { type Git, succeeds } from '../git.ts';
import { commitTree } from './commitTree.ts';
import { keptRef, listed, rememberedObjects, unreachable } from './kept.ts';
import { inspect } from './nested.ts';
import { takeSnapshot } from './snapshot.ts';
import { addedSubmodules, FOUND_REF, gitlinks } from './submodules.ts';

export interface Inner {
  /** Folders whose files belong to the surrounding checkout although they contain a `.git`. */
  readonly asFiles: readonly string[];
  /** Folders of submodules and clones, whose files belong to their own repository and not to the checkout. */
  readonly separate: readonly string[];
  /** Commits of the submodules to record in the checkout, by path. */
  readonly links: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  /** Folders with a `.git` that git cannot read. Git can store nothing below these folders. */
  readonly broken: readonly string[];
  /** Checked-out commits of those inner checkouts whose repository is outside the worktree. */
  readonly heads: readonly string[];
}

export interface InnerWishes {
  readonly checkout: Checkout;
  /** Paths in the checkout that contain a `.git`, outermost first. */
  readonly repositories: readonly string[];
  /** Git bound to the checkout, with the index to which the files are compared. */
  readonly git: Git;
  /** Returns git bound to the repository that keeps the commits. */
  readonly into: (settings: readonly string[]) => Git;
  /** Folders that are removed with the worktree. Objects in them, also those of inner repositories, would be lost. */
  readonly owners: readonly string[];
  readonly message: string;
}

/**
 * Stores the commits of every repository in a checkout under `refs/muster/kept/`, and commits uncommitted files in
 * submodules and clones.
 * @throws GitError if the commits of a repository cannot be kept
 */
export async function keepInner(wishes: InnerWishes): Promise<Inner> {
  const { checkout, repositories } = wishes;
  const before = await gitlinks(wishes.git);
  const links = [...new Set([...before, ...(await addedSubmodules(checkout))])];
  let all: Inner = { asFiles: [], separate: [], links: {}, notes: [], broken: [], heads: [] };
  for (const path of repositories) {
    const isPartOfOther = all.separate.some((folder) => path.startsWith(`${folder}/`));
    if (!isPartOfOther) all = together(all, await keepOne(path, links.includes(path), wishes));
  }
  // Without its `.git`, a submodule counts as unchanged for git, which then checks none of its files.
  const lost = links.filter((path) => !repositories.includes(path) && hasFiles(`${checkout.folder}/${path}`));
  return { ...all, asFiles: [...all.asFiles, ...lost] };
}

/** @param path of a folder that contains a `.git` */
async function keepOne(path: string, isSubmodule: boolean, wishes: InnerWishes): Promise<Partial<Inner>> {
  const { checkout, repositories, owners } = wishes;
  const nested = await inspect(`${checkout.folder}/${path}`, owners);
  if (nested.kind === 'broken') return { asFiles: [path], broken: [path] };
  if (nested.kind === 'elsewhere') return { asFiles: [path], heads: nested.head === undefined ? [] : [nested.head] };
  if (!isSubmodule && !(await isClone(nested.checkout))) {
    const refs = await keepCommits(nested.checkout, wishes, []);
    return { asFiles: [path], notes: refs.length > 0 ? [created(path, refs)] : [] };
  }
  const within = repositories.flatMap((one) => (one.startsWith(`${path}/`) ? one.slice(path.length + 1) : []));
  const kept = await keepSeparate(nested.checkout, { ...wishes, repositories: within });
  return {
    separate: [path],
    links: isSubmodule ? { [path]: kept.head } : {},
    notes: [...kept.notes, ...noteOf(path, kept.refs, isSubmodule)],
    broken: kept.broken.map((one) => `${path}/${one}`),
    heads: kept.heads,
  };
}

function together(all: Inner, one: Partial<Inner>): Inner {
  return {
    asFiles: [...all.asFiles, ...(one.asFiles ?? [])],
    separate: [...all.separate, ...(one.separate ?? [])],
    links: { ...all.links, ...one.links },
    notes: [...all.notes, ...(one.notes ?? [])],
    broken: [...all.broken, ...(one.broken ?? [])],
    heads: [...all.heads, ...(one.heads ?? [])],
  };
}

function hasFiles(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}

function created(path: string, refs: readonly string[]): string {
  return `"${path}" is a repository that the agent created. Its files are on the branch; its commits are kept as ${listed(refs)}.`;
}

function noteOf(path: string, refs: readonly string[], isSubmodule: boolean): readonly string[] {
  if (isSubmodule)
    return refs.length === 0
      ? []
      : [
          `The submodule "${path}" was changed. Its commit is kept as ${listed(refs)}. Push it to the submodule's origin.`,
        ];
  const kept = refs.length === 0 ? '' : ` Commits that its origin does not have are kept as ${listed(refs)}.`;
  return [`"${path}" is a clone that the agent created. Its files are not on the branch.${kept}`];
}

/** Returns whether a repository is a clone. If so, a remote-tracking branch contains the checked-out commit. */
async function isClone(checkout: Checkout): Promise<boolean> {
  const git = gitAt(checkout);
  if (!(await succeeds(git, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'))) return false;
  return (await git('for-each-ref', '--count=1', '--contains=HEAD', 'refs/remotes')) !== '';
}

async function keepSeparate(checkout: Checkout, wishes: InnerWishes) {
  const index = `${checkout.gitDir}/muster-index`;
  const inner = await keepInner({ ...wishes, checkout, git: gitAt(checkout) });
  const { tree, missing, reason } = await takeSnapshot({
    checkout,
    index,
    from: undefined,
    asFiles: inner.asFiles,
    without: inner.separate,
    links: inner.links,
    settings: [],
  });
  if (missing.length > 0) throw new IncompleteError(checkout.folder, missing, reason);
  const git = gitAt(checkout);
  const before = await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(() => undefined);
  const isCommitted = before !== undefined && tree === (await git('rev-parse', `${before}^{tree}`));
  const head = isCommitted ? before : await commitTree(checkout, tree, before ? [before] : [], wishes.message);
  if (!isCommitted) await git('update-ref', 'HEAD', head);
  const refs = await keepCommits(checkout, wishes, [head]);
  return { ...inner, refs, head };
}

/** @returns the refs of the kept commits. Only commits that none of the repository's remotes has are kept */
async function keepCommits(
  checkout: Checkout,
  { into }: InnerWishes,
  more: readonly string[],
): Promise<readonly string[]> {
  const gitWith = (input: string): Git => gitAt(checkout, { input });
  const git = gitWith('');
  const refs = await git('for-each-ref', '--format=%(objectname)');
  const objects = [...rememberedObjects(checkout.gitDir), ...refs.split('\n').filter(Boolean), ...more];
  const found = await git('rev-parse', '--verify', '--quiet', FOUND_REF).catch(() => undefined);
  const tips = await unreachable(gitWith, objects, ['--remotes', ...(found === undefined ? [] : [found])]);
  if (tips.length === 0) return [];
  const how = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];
  const settings = ['protocol.version=2', 'protocol.file.allow=always'];
  await into(settings)('fetch', ...how, checkout.gitDir, ...tips.map((sha) => `+${sha}:${keptRef(sha)}`));
  return tips.map(keptRef);
}

/** Thrown if git cannot store some files of an inner repository. */
class IncompleteError extends Error {
  constructor(folder: string, missing: readonly string[], reason: string) {
    super(`${missing.length} files in ${folder} cannot be stored. ${reason}`);
  }
}
