/** Resolves a new branch's base, the commit that the branch starts from. The task or the runner names the base. */
import { type Git, GitError } from '../git.ts';
import type { RemoteRefs } from './remote.ts';

export interface Base {
  readonly sha: string;
  /** Branch of "origin" or of this repository whose last commit is the base's commit, if there is such a branch. */
  readonly branch: string | undefined;
  /** Kind and name of the base, for messages: `the tag "v1"`. */
  readonly description: string;
}

/** Base of a branch. `sha` is the base's commit in this repository; undefined if the repository lacks the base. */
export interface NamedBase {
  readonly name: string;
  readonly kind: 'branch' | 'remote branch' | 'tag' | 'commit' | 'unknown';
  readonly sha: string | undefined;
  /** Remote that has the branch, or may have it. */
  readonly remote: string;
  /** Offset after the branch name, for example `~2`, or empty. `sha` is the commit without this offset. */
  readonly suffix: string;
}

/**
 * Returns the kind and commit of the base with a given name, without contacting a remote.
 * @param ref must not begin with "-", which git would treat as an option
 * @throws GitError, permanent, if the name is both a tag and a branch
 */
export async function nameBase(git: Git, ref: string): Promise<NamedBase> {
  await requireUnambiguous(git, ref);
  const full = await git('rev-parse', '--verify', '--quiet', '--symbolic-full-name', ref).catch(() => '');
  const sha = await commitOf(git, ref);
  const [, space = '', name = ''] = /^refs\/(heads|tags|remotes)\/(.+)$/.exec(full) ?? [];
  if (space === 'heads') return { name, kind: 'branch', sha, remote: 'origin', suffix: '' };
  if (space === 'tags') return { name, kind: 'tag', sha, remote: 'origin', suffix: '' };
  if (space === 'remotes' || sha === undefined) {
    const remotes = (await git('remote')).split('\n').filter(Boolean);
    const remote = remoteIn(name || ref.replace(/^(?:refs\/)?remotes\//, ''), remotes);
    if (remote !== undefined) return { ...remote, kind: 'remote branch', sha, suffix: '' };
  }
  const kind = sha === undefined ? 'unknown' : 'commit';
  return (await offsetBase(git, ref)) ?? { name: ref, kind, sha, remote: 'origin', suffix: '' };
}

/** Returns the base for a branch with an offset, for example `main~2`; undefined for any other name. */
async function offsetBase(git: Git, ref: string): Promise<NamedBase | undefined> {
  const [, start = '', suffix = ''] = /^(.+?)((?:[~^]\d*)+)$/.exec(ref) ?? [];
  // An offset from HEAD refers to the local checkout and never to newer commits on "origin".
  if (start === '' || /^(?:HEAD|@)$/.test(start)) return undefined;
  const named = await nameBase(git, start);
  return named.kind === 'branch' || named.kind === 'remote branch' ? { ...named, suffix } : undefined;
}

async function requireUnambiguous(git: Git, ref: string): Promise<void> {
  const found = await git('for-each-ref', '--format=%(refname)', `refs/heads/${ref}`, `refs/tags/${ref}`);
  const refs = found.split('\n');
  if (refs.includes(`refs/heads/${ref}`) && refs.includes(`refs/tags/${ref}`)) throw ambiguous(ref);
}

function ambiguous(name: string): GitError {
  return new GitError(`The base "${name}" is both a branch and a tag. Use refs/heads/${name} or refs/tags/${name}.`, {
    kind: 'permanent',
  });
}

function remoteIn(name: string, remotes: readonly string[]): { remote: string; name: string } | undefined {
  const remote = remotes
    .filter((one) => name.startsWith(`${one}/`))
    .reduce((longest, one) => (one.length > longest.length ? one : longest), '');
  return remote === '' ? undefined : { remote, name: name.slice(remote.length + 1) };
}

/** Returns the full names of the remote refs to fetch, so that the base can be resolved. */
export function wantedFor(named: NamedBase, refs: RemoteRefs): readonly string[] {
  if (named.kind === 'tag' || named.kind === 'commit') return [];
  if (named.kind !== 'unknown') return refs.branches.has(named.name) ? [`refs/heads/${named.name}`] : [];
  const { name, branch, tag } = lookUp(named.name, refs);
  if (branch !== undefined) return [`refs/heads/${name}`];
  return tag === undefined ? [] : [`refs/tags/${name}`];
}

function lookUp(ref: string, { branches, tags }: RemoteRefs) {
  const [, kind, name = ref] = /^(?:refs\/)?(heads|tags)\/(.+)$/.exec(ref) ?? [];
  const branch = kind === 'tags' ? undefined : branches.get(name);
  const tag = kind === 'heads' ? undefined : tags.get(name);
  if (branch !== undefined && tag !== undefined) throw ambiguous(name);
  return { name, branch, tag };
}

interface Settled {
  readonly base: Base;
  /** Message for the log if this repository and the remote have different commits. */
  readonly note?: string | undefined;
}

/**
 * Chooses the commit of the base. The remote's branch takes precedence, unless the local branch contains its commits.
 * @param refs the remote's refs, whose objects have been fetched; undefined if nothing is fetched
 * @throws GitError, permanent, if neither this repository nor the remote has the base
 */
export async function settleBase(git: Git, named: NamedBase, refs: RemoteRefs | undefined): Promise<Settled> {
  const start = await settleStart(git, named, refs);
  if (named.suffix === '') return start;
  const sha = await commitOf(git, `${start.base.sha}${named.suffix}`);
  if (sha === undefined) throw unknownBase(`${named.name}${named.suffix}`);
  return { ...start, base: { sha, branch: undefined, description: 'a commit' } };
}

function settleStart(git: Git, named: NamedBase, refs: RemoteRefs | undefined): Promise<Settled> {
  if (named.kind === 'branch') return settleBranch(git, named, refs);
  if (named.kind === 'remote branch') return settleRemoteBranch(named, refs);
  if (named.kind === 'unknown') return settleUnknown(git, named, refs);
  const { kind, name, sha } = named;
  if (sha === undefined) throw unknownBase(name);
  return Promise.resolve({ base: { sha, branch: undefined, description: describe(kind, name) } });
}

async function settleBranch(git: Git, { name, sha }: NamedBase, refs?: RemoteRefs): Promise<Settled> {
  if (sha === undefined) throw unknownBase(name);
  const local = { sha, branch: name, description: describe('branch', name) };
  const theirs = refs?.branches.get(name);
  if (refs === undefined || theirs === sha) return { base: local };
  if (theirs === undefined)
    return { base: local, note: `The branch "${name}" is not on ${refs.remote}. The local branch is the base.` };
  const { ahead, behind } = await compare(git, sha, theirs);
  const base = { ...local, sha: theirs };
  if (ahead === 0)
    return { base, note: `The base is ${name} of ${refs.remote}, because the local branch lacks ${commits(behind)}.` };
  if (behind === 0)
    return { base: local, note: `The base is the local ${name}, because ${refs.remote} lacks ${commits(ahead)}.` };
  return {
    base,
    note: `The base is ${name} of ${refs.remote}. It lacks ${commits(ahead)} of the local branch. The local branch is unchanged.`,
  };
}

async function settleRemoteBranch({ name, sha, remote }: NamedBase, refs?: RemoteRefs): Promise<Settled> {
  const theirs = refs?.branches.get(name);
  const at = theirs ?? sha;
  if (at === undefined) throw unknownBase(`${remote}/${name}`);
  const branch = remote === 'origin' ? name : undefined;
  const base = { sha: at, branch, description: `the branch "${name}" of the remote "${remote}"` };
  if (refs === undefined || theirs !== undefined) return { base };
  return { base, note: `The branch "${name}" is no longer on ${remote}. The base is its last known commit.` };
}

async function settleUnknown(git: Git, { name: ref }: NamedBase, refs?: RemoteRefs): Promise<Settled> {
  const { name, branch, tag } = refs ? lookUp(ref, refs) : { name: ref };
  // A remote branch that was never checked out here has no local branch.
  const known = branch ?? (await commitOf(git, `refs/remotes/origin/${name}`));
  if (tag === undefined && known !== undefined)
    return { base: { sha: known, branch: name, description: describe('branch', name) } };
  const sha = await commitOf(git, tag ?? ref);
  if (sha === undefined) throw unknownBase(ref);
  const description = tag === undefined ? 'a commit' : describe('tag', name);
  return { base: { sha, branch: undefined, description } };
}

/** Returns how many commits only the first revision contains, and how many only the second contains. */
export async function compare(git: Git, one: string, other: string): Promise<{ ahead: number; behind: number }> {
  const [ahead, behind] = (await git('rev-list', '--left-right', '--count', `${one}...${other}`)).split('\t');
  return { ahead: Number(ahead), behind: Number(behind) };
}

/** Returns the commit that a ref or revision names; undefined if it names none. */
export function commitOf(git: Git, ref: string): Promise<string | undefined> {
  return git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`).catch(() => undefined);
}

function describe(kind: 'branch' | 'tag' | 'commit', name: string): string {
  return kind === 'commit' ? 'a commit' : `the ${kind} "${name}"`;
}

const commits = (count: number): string => (count === 1 ? '1 commit' : `${count} commits`);

function unknownBase(name: string): GitError {
  return new GitError(`The base "${name}" is not a branch, tag or commit.`, { kind: 'permanent' });
}
