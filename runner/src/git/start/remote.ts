/**
 * Branches and tags of a remote. Listing and fetching change neither refs, tags, `FETCH_HEAD`, the configuration nor
 * the checkout: a fetch only adds objects to the repository.
 */
import { type Git, GitError, succeeds } from '../git.ts';

export interface RemoteRefs {
  /** For example `origin`. */
  readonly remote: string;
  /** Names without `refs/heads/`, with their commits. */
  readonly branches: ReadonlyMap<string, string>;
  /** Names without `refs/tags/`, with the objects that the tags point to. */
  readonly tags: ReadonlyMap<string, string>;
}

/**
 * Lists a remote's refs, to distinguish a missing ref from a remote that does not respond.
 * @throws GitError if the remote does not respond
 */
export async function listRemote(git: Git, remote: string): Promise<RemoteRefs> {
  const branches = new Map<string, string>();
  const tags = new Map<string, string>();
  for (const line of (await git('ls-remote', '--quiet', '--heads', '--tags', remote)).split('\n')) {
    const [, sha, kind, name] = /^(\w+)\trefs\/(heads|tags)\/(.+)$/.exec(line) ?? [];
    if (sha === undefined || name === undefined) continue;
    if (kind === 'heads') branches.set(name, sha);
    // The line of an annotated tag's commit follows the line of the tag.
    else tags.set(name.replace(/\^\{\}$/, ''), sha);
  }
  return { remote, branches, tags };
}

/** Keeps the user's fetch configuration from changing refs, pruning refs, or adding tags. */
const OBJECTS_ONLY = [
  '--quiet',
  '--refmap=',
  '--no-tags',
  '--no-prune',
  '--no-prune-tags',
  '--no-recurse-submodules',
  '--no-write-fetch-head',
  '--no-write-commit-graph',
];

/**
 * Fetches the objects of refs, and lists the remote.
 * @param select returns the full names of refs that the remote has
 * @throws GitError if the remote does not respond, or if a ref moves between the list and the fetch
 */
export async function fetchRefs(
  git: Git,
  remote: string,
  select: (refs: RemoteRefs) => readonly string[],
): Promise<RemoteRefs> {
  const refs = await listRemote(git, remote);
  const wanted = [...new Set(select(refs))];
  if (wanted.length > 0) await git('fetch', ...OBJECTS_ONLY, remote, ...wanted);
  for (const ref of wanted) {
    const sha = refs.branches.get(ref.replace(/^refs\/heads\//, ''));
    if (sha === undefined || (await succeeds(git, 'cat-file', '-e', `${sha}^{commit}`))) continue;
    throw new GitError(`${ref} of ${remote} moved during the fetch.`, { kind: 'transient' });
  }
  return refs;
}

const FULL_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const LACKS_COMMIT = /not our ref|unadvertised object|couldn't find remote ref/i;

/**
 * Fetches a commit by its full SHA, if the remote has it and allows that.
 * @throws GitError if the remote does not respond
 */
export async function fetchCommit(git: Git, remote: string, sha: string): Promise<void> {
  if (!FULL_SHA.test(sha)) return;
  await git('fetch', ...OBJECTS_ONLY, remote, sha).catch((error: unknown) => {
    if (!(error instanceof GitError && LACKS_COMMIT.test(error.message))) throw error;
  });
}
