/** Creating branches, and committing several files at once. Ours, beside the specification's five tools. */
import type { RecordAnswer, Store } from '../../../kernel/commit.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import type { Commit } from './answers.ts';
import { type CommitRequest, checkRequest, type FileChange, isObstacle, kindsOf } from './commitRequest.ts';
import { refusal } from './errors.ts';
import { isSha, refName } from './names.ts';
import type { GitHub, GitHubPorts, NewTreeEntry, RepositoryName } from './ports.ts';
import { TreeView } from './tree.ts';

/** How often a branch may move on while a commit is made for it. */
const MAX_ATTEMPTS = 3;

/** How often something is sent whose answer is lost. */
const MAX_SENT = 3;

/** How many commits others may have built on one whose answer was lost. */
const MAX_LOOKED_THROUGH = 20;

interface CreatedBranch {
  readonly branch: string;
  readonly sha: string;
  /** False where it was there already, at the same commit. */
  readonly created: boolean;
}

export interface CommitOutcome {
  readonly sha: string;
  readonly parent: string;
  readonly tree: string;
  /** False where the branch was at this very commit already: same message, same files. */
  readonly created: boolean;
}

/** A commit and the one that it was made onto. */
type PlacedCommit = Pick<CommitOutcome, 'sha' | 'parent'>;

export class Committing {
  private readonly gitHub: GitHub;
  private readonly store: Store;

  constructor({ gitHub, store }: GitHubPorts) {
    this.gitHub = gitHub;
    this.store = store;
  }

  /** @param from a branch, a tag or a commit; the default branch where absent */
  async createBranch(
    at: RepositoryName,
    name: string,
    from: string | undefined,
    recordAnswer: RecordAnswer<CreatedBranch>,
  ): Promise<CreatedBranch> {
    refName(name, 'branch');
    if (isSha(name)) throw refusal('INVALID_FORMAT', 'branchLikeSha');
    const sha = await this.start(at, from);
    const created = await this.make(at, name, sha);
    const outcome = { branch: name, sha, created };
    await this.store.commit([], recordAnswer(outcome));
    return outcome;
  }

  /** All files in one commit: nobody sees any of it before the branch moves, which is the last step. */
  async commitFiles(
    request: CommitRequest,
    recordAnswer: RecordAnswer<CommitOutcome>,
  ): Promise<CommitOutcome> {
    checkRequest(request);
    const outcome = await this.commitOnto(request, new Map(), 1);
    await this.store.commit([], recordAnswer(outcome));
    return outcome;
  }

  private async start(at: RepositoryName, from: string | undefined): Promise<string> {
    const repository = from === undefined ? await this.gitHub.repository(at) : undefined;
    if (from === undefined && repository === undefined) throw refusal('NOT_FOUND', 'repository', at);
    const ref = repository?.defaultBranch ?? refName(from ?? '', 'from');
    const commit = await this.gitHub.commit(at, ref);
    if (commit === undefined) throw await this.missing(at, ref, 'from');
    return commit.sha;
  }

  private missing(at: RepositoryName, ref: string, field: string): Promise<MusterError> {
    return this.gitHub.missing(at, refusal('NOT_FOUND', 'ref', { ...at, ref }, { field }));
  }

  private async commitOnto(
    request: CommitRequest,
    blobs: Map<string, string>,
    attempt: number,
  ): Promise<CommitOutcome> {
    const { at, branch, message, expectedParent } = request;
    const headSha = await this.gitHub.branch(at, branch);
    if (headSha === undefined) throw await this.missing(at, branch, 'branch');
    const head = await this.gitHub.found(at, this.gitHub.commit(at, headSha));
    if (expectedParent === undefined && (await this.isMade(request, head, blobs)))
      return sameAs(head, request);
    const parent =
      expectedParent === undefined || expectedParent === headSha ? head : await this.before(request, head);
    const tree = await this.tree(request, parent.tree, blobs);
    if (tree === head.tree && (parent === head || head.parents[0] === parent.sha))
      return sameAs(head, request);
    if (parent !== head) throw refusal('CONFLICT', 'branchMoved', { branch });
    const sha = await this.gitHub.createCommit(at, { message, tree, parent: parent.sha });
    if (await this.move(at, branch, { sha, parent: parent.sha })) {
      return { sha, parent: parent.sha, tree, created: true };
    }
    if (expectedParent !== undefined || attempt === MAX_ATTEMPTS)
      throw refusal('CONFLICT', 'branchMoved', { branch });
    return this.commitOnto(request, blobs, attempt + 1);
  }

  /** Whether the head is this very commit: a deletion cannot be made over it again. */
  private async isMade(request: CommitRequest, head: Commit, blobs: Map<string, string>): Promise<boolean> {
    const { at, message, files } = request;
    const [before] = head.parents;
    if (head.message !== message || before === undefined || !files.some((file) => file.delete)) return false;
    const { tree } = await this.gitHub.found(at, this.gitHub.commit(at, before));
    try {
      return (await this.tree(request, tree, blobs)) === head.tree;
    } catch (error) {
      if (isObstacle(error)) return false;
      throw error;
    }
  }

  /** The branch is not where it was expected. An earlier attempt of the same call may have moved it. */
  private async before({ at, branch, expectedParent = '' }: CommitRequest, head: Commit): Promise<Commit> {
    if (head.parents[0] !== expectedParent) throw refusal('CONFLICT', 'branchMoved', { branch });
    return this.gitHub.found(at, this.gitHub.commit(at, expectedParent));
  }

  /** @param blobs those made so far, by path: a further attempt uses them again */
  private async tree(
    { at, files }: CommitRequest,
    base: string,
    blobs: Map<string, string>,
  ): Promise<string> {
    const kinds = await kindsOf(await TreeView.open(this.gitHub, at, base), files);
    const entries: NewTreeEntry[] = [];
    for (const file of files) {
      const kind = kinds.get(file.path) ?? 'file';
      entries.push({ path: file.path, kind, content: await this.contentOf(at, file, blobs) });
    }
    return this.gitHub.createTree(at, base, entries);
  }

  private async contentOf(
    at: RepositoryName,
    { path, content, encoding }: FileChange,
    blobs: Map<string, string>,
  ): Promise<NewTreeEntry['content']> {
    if (content === undefined) return undefined;
    if (encoding === 'utf8') return { text: content };
    const blob = blobs.get(path) ?? (await this.gitHub.createBlob(at, content));
    blobs.set(path, blob);
    return { blob };
  }

  /** Whether it was not there before. What is sent again after a lost answer meets its own branch. */
  private async make(at: RepositoryName, name: string, sha: string, attempt = 1): Promise<boolean> {
    const answer = await this.gitHub.createBranch(at, name, sha);
    if (answer === 'created') return true;
    if (answer === 'exists') {
      if ((await this.gitHub.branch(at, name)) === sha) return attempt > 1;
      throw refusal('CONFLICT', 'branchExists', { branch: name });
    }
    if ((await this.gitHub.branch(at, name)) === sha) return true;
    if (attempt === MAX_SENT) throw outcomeUnknown(`Branch "${name}"`);
    return this.make(at, name, sha, attempt + 1);
  }

  /** Whether the commit is on the branch now. What is sent again after a lost answer may find others built on it. */
  private async move(
    at: RepositoryName,
    branch: string,
    commit: PlacedCommit,
    attempt = 1,
  ): Promise<boolean> {
    const moved = await this.gitHub.moveBranch(at, branch, commit.sha);
    if (moved === 'moved') return true;
    if (moved === 'stale' && attempt === 1) return false;
    if (await this.holds(at, branch, commit)) return true;
    if (moved === 'stale') return false;
    if (attempt === MAX_SENT) throw outcomeUnknown(`Commit ${commit.sha}`);
    return this.move(at, branch, commit, attempt + 1);
  }

  /** Whether the branch leads to the commit, by way of at most so many others. */
  private async holds(at: RepositoryName, branch: string, { sha, parent }: PlacedCommit): Promise<boolean> {
    let ahead = [await this.gitHub.found(at, this.gitHub.branch(at, branch))];
    for (let looked = 0; looked < MAX_LOOKED_THROUGH; looked++) {
      const [next, ...others] = ahead;
      if (next === undefined) return false;
      if (next === sha) return true;
      const { parents } = await this.gitHub.found(at, this.gitHub.commit(at, next));
      ahead = [...others, ...parents.filter((one) => one !== parent)];
    }
    throw outcomeUnknown(`Commit ${sha}`);
  }
}

function outcomeUnknown(what: string): MusterError {
  return refusal('GITHUB_ERROR', 'outcomeUnknown', { what });
}

function sameAs(head: Commit, { message, branch }: CommitRequest): CommitOutcome {
  const [parent] = head.parents;
  if (head.message === message && parent !== undefined) {
    return { sha: head.sha, parent, tree: head.tree, created: false };
  }
  throw refusal('CONFLICT', 'nothingToCommit', { branch });
}
