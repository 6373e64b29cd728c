/**
 * Lists and fetches branches and tags of a remote. Neither operation changes refs, tags, `FETCH_HEAD`, the
 * configuration or the checkout: a fetch only adds objects to the repository.
 */
import { type Git, GitError, succeeds } from '../git.ts';

export interface RemoteRefs {
  readonly remote: string;
  /** Names of the branches without `refs/heads/`, with their commits. */
  readonly branches: ReadonlyMap<string, string>;
  /** Names of the tags without `refs/tags/`, with the objects that the tags point to. */
  readonly tags: ReadonlyMap<string, string>;
}

/**
 * Lists a remote's refs. The list distinguishes a missing ref from a remote that does not respond.
 * @throws GitError if the remote does not respond
 */
export async function listRemote(git: Git, remote: string): Promise<RemoteRefs> {
  const branches = new Map<string, string>();
  const tags = new Map<string, string>();
  for (const line of (await git('ls-remote', '--quiet', '--heads', '--tags', remote)).split('\n')) {
    const [, sha, kind, name] = /^(\w+)\trefs\/(heads|tags)\/(.+)$/.exec(line) ?? [];
    if (sha === undefined || name === undefined) continue;
    if (kind === 'heads') branches.set(name, sha);
    // For an annotated tag, a second line with the tag's commit follows.
    else tags.set(name.replace(/\^\{\}$/, ''), sha);
  }
  return { remote, branches, tags };
}

/** Options with which a fetch changes no refs and adds no tags, regardless of the user's configuration. */
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
 * Lists the remote's refs, and fetches the objects of the selected refs.
 * @param select returns the full names of the refs to fetch, from those that the remote has
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
 * Fetches a commit by its full SHA, if the remote has the commit and allows such requests.
 * @throws GitError if the remote does not respond
 */
export async function fetchCommit(git: Git, remote: string, sha: string): Promise<void> {
  if (!FULL_SHA.test(sha)) return;
  await git('fetch', ...OBJECTS_ONLY, remote, sha).catch((error: unknown) => {
    if (!(error instanceof GitError && LACKS_COMMIT.test(error.message))) throw error;
  });
}
