/** Creates branches, and commits several files in one commit. The network specification has no such tools. */
import type { RecordResponse } from '../../../kernel/commit.ts';
import { Service } from '../../../kernel/ports.ts';
import { type CommitRequest, checkRequest, type FileChange, isBlocking, kindsOf, openTree } from './commitRequest.ts';
import { isSha, outsideRepositories, refName } from './names.ts';
import type { GitHub, GitHubPorts, NewTreeEntry, RepositoryName } from './ports.ts';
import { type Commit, refusal } from './responses.ts';

/** Maximum number of attempts to commit, if other commits move the branch in the meantime. */
const MAX_COMMIT_ATTEMPTS = 3;

/** Maximum number of times that a write is sent if GitHub's responses are lost. */
const MAX_REQUEST_ATTEMPTS = 3;

/** Maximum number of commits of the branch that are searched for the new commit after a lost response. */
const MAX_SEARCHED_COMMITS = 20;

/** `created` is false if the branch already existed at the same commit. */
type CreatedBranch = Readonly<{ branch: string; sha: string; created: boolean }>;

export interface CommitOutcome {
  readonly sha: string;
  readonly parent: string;
  readonly tree: string;
  /** False if the head of the branch already has this message and these files. */
  readonly created: boolean;
}

/** Creates a branch. @param wanted `from` may be a branch, a tag or a commit; default: the default branch */
export async function createBranchFrom(
  { gitHub, store }: GitHubPorts,
  at: RepositoryName,
  { branch, from }: { readonly branch: string; readonly from: string | undefined },
  recordResponse: RecordResponse<CreatedBranch>,
): Promise<CreatedBranch> {
  refName(branch, 'branch');
  if (isSha(branch)) throw refusal('INVALID_FORMAT', 'branchLikeSha');
  const repository = from === undefined ? await gitHub.repository(at) : undefined;
  if (from === undefined && repository === undefined) throw refusal('NOT_FOUND', 'repository', at);
  const ref = repository?.defaultBranch ?? refName(from ?? '', 'from');
  const commit = await gitHub.commit(at, ref);
  if (commit === undefined) throw await gitHub.missing(at, refusal('NOT_FOUND', 'ref', { ...at, ref, field: 'from' }));
  const { sha } = commit;
  const outcome = { branch, sha, created: await createBranch(gitHub, at, { branch, sha }) };
  await store.commit([outsideRepositories(at, `branch ${branch}`, { sha })], recordResponse(outcome));
  return outcome;
}

/** Returns whether this call created the branch, including by a request whose response was lost. */
async function createBranch(
  gitHub: GitHub,
  at: RepositoryName,
  { branch, sha }: { readonly branch: string; readonly sha: string },
  attempt = 1,
): Promise<boolean> {
  const answer = await gitHub.createBranch(at, branch, sha);
  if (answer === 'created') return true;
  const isThere = (await gitHub.branch(at, branch)) === sha;
  if (answer === 'exists') {
    if (isThere) return attempt > 1;
    throw refusal('CONFLICT', 'branchExists', { branch });
  }
  if (isThere) return true;
  if (attempt === MAX_REQUEST_ATTEMPTS) throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: `Branch "${branch}"` });
  return createBranch(gitHub, at, { branch, sha }, attempt + 1);
}

/** Commits all files or none. The last step moves the branch to the new commit, which makes the commit visible. */
export async function commitChanges(
  { gitHub, store }: GitHubPorts,
  request: CommitRequest,
  recordResponse: RecordResponse<CommitOutcome>,
): Promise<CommitOutcome> {
  checkRequest(request);
  const outcome = await new Committing({ gitHub, request }).commit();
  const { sha, parent } = outcome;
  const moved = outsideRepositories(request.at, `branch ${request.branch}`, { sha }, { sha: parent });
  await store.commit([moved], recordResponse(outcome));
  return outcome;
}

class Committing extends Service<{ readonly gitHub: GitHub; readonly request: CommitRequest }> {
  /** Later attempts reuse the uploaded blobs. The keys are file paths. */
  private readonly blobs = new Map<string, string>();

  async commit(attempt = 1): Promise<CommitOutcome> {
    const { at, branch, message, expectedParent } = this.ports.request;
    const headSha = await this.ports.gitHub.branch(at, branch);
    if (headSha === undefined) {
      const error = refusal('NOT_FOUND', 'ref', { ...at, ref: branch, field: 'branch' });
      throw await this.ports.gitHub.missing(at, error);
    }
    const head = await this.commitAt(headSha);
    if (expectedParent === undefined && (await this.isCommitted(head))) return this.sameAs(head);
    const isExpected = expectedParent === undefined || expectedParent === headSha;
    // If the branch is not at the expected commit, its head may be the commit of an earlier attempt.
    if (!isExpected && head.parents[0] !== expectedParent) throw refusal('CONFLICT', 'branchMoved', { branch });
    const parent = isExpected ? head : await this.commitAt(expectedParent);
    const tree = await this.treeOn(parent.tree);
    const isOnParent = parent === head || head.parents[0] === parent.sha;
    if (tree === head.tree && isOnParent) return this.sameAs(head);
    if (parent !== head) throw refusal('CONFLICT', 'branchMoved', { branch });
    const sha = await this.ports.gitHub.createCommit(at, { message, tree, parent: parent.sha });
    if (await this.move(sha, parent.sha)) return { sha, parent: parent.sha, tree, created: true };
    if (expectedParent === undefined && attempt < MAX_COMMIT_ATTEMPTS) return this.commit(attempt + 1);
    throw refusal('CONFLICT', 'branchMoved', { branch });
  }

  private commitAt(sha: string): Promise<Commit> {
    const { at } = this.ports.request;
    return this.ports.gitHub.found(at, this.ports.gitHub.commit(at, sha));
  }

  /** Returns whether the head is already this commit. Needed because deleted files cannot be deleted again. */
  private async isCommitted(head: Commit): Promise<boolean> {
    const { message, files } = this.ports.request;
    const [before] = head.parents;
    if (head.message !== message || before === undefined || !files.some((file) => file.delete)) return false;
    const { tree } = await this.commitAt(before);
    try {
      return (await this.treeOn(tree)) === head.tree;
    } catch (error) {
      if (isBlocking(error)) return false;
      throw error;
    }
  }

  private sameAs({ sha, parents, tree, message }: Commit): CommitOutcome {
    const [parent] = parents;
    if (message === this.ports.request.message && parent !== undefined) return { sha, parent, tree, created: false };
    throw refusal('CONFLICT', 'nothingToCommit', { branch: this.ports.request.branch });
  }

  private async treeOn(base: string): Promise<string> {
    const { at, files } = this.ports.request;
    const kinds = await kindsOf(await openTree(this.ports.gitHub, at, base), files);
    const entries: NewTreeEntry[] = [];
    for (const file of files) {
      const kind = kinds.get(file.path) ?? 'file';
      entries.push({ path: file.path, kind, content: await this.contentOf(file) });
    }
    return this.ports.gitHub.createTree(at, base, entries);
  }

  private async contentOf({ path, content, encoding }: FileChange): Promise<NewTreeEntry['content']> {
    if (content === undefined) return undefined;
    if (encoding === 'utf8') return { text: content };
    const blob = this.blobs.get(path) ?? (await this.ports.gitHub.createBlob(this.ports.request.at, content));
    this.blobs.set(path, blob);
    return { blob };
  }

  /** Moves the branch to the commit. Returns whether the branch contains the commit, possibly below newer commits. */
  private async move(sha: string, parent: string, attempt = 1): Promise<boolean> {
    const moved = await this.ports.gitHub.moveBranch(this.ports.request.at, this.ports.request.branch, sha);
    if (moved === 'moved') return true;
    if (moved === 'stale' && attempt === 1) return false;
    if (await this.hasContent(sha, parent)) return true;
    if (moved === 'stale') return false;
    if (attempt === MAX_REQUEST_ATTEMPTS) throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: `Commit ${sha}` });
    return this.move(sha, parent, attempt + 1);
  }

  /** Returns whether the latest commits of the branch include the commit. */
  private async hasContent(sha: string, parent: string): Promise<boolean> {
    const { at, branch } = this.ports.request;
    let ahead = [await this.ports.gitHub.found(at, this.ports.gitHub.branch(at, branch))];
    for (let looked = 0; looked < MAX_SEARCHED_COMMITS; looked++) {
      const [next, ...others] = ahead;
      if (next === undefined) return false;
      if (next === sha) return true;
      const { parents } = await this.commitAt(next);
      ahead = [...others, ...parents.filter((one) => one !== parent)];
    }
    throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: `Commit ${sha}` });
  }
}
