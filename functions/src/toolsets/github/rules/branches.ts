/** Making and moving branches, also where GitHub's answer is lost. */
import { type Operation, REPLAY_HOURS, type RecordAnswer } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { found, outcomeUnknown, unwritable, written } from './errors.ts';
import type { GitHub, GitHubPorts, Issue, NewIssue, RepositoryName } from './port.ts';

/** How often something is sent whose answer is lost. */
const MAX_ATTEMPTS = 3;

/** How many commits others may have built on one whose answer was lost. */
const MAX_LOOKED_THROUGH = 20;

/** A commit and the one that it was made onto. */
interface PlacedCommit {
  readonly sha: string;
  readonly parent: string;
}

export class Branches {
  private readonly gitHub: GitHub;

  constructor(gitHub: GitHub) {
    this.gitHub = gitHub;
  }

  /** Whether it was not there before. What is sent again after a lost answer meets its own branch. */
  async make(at: RepositoryName, name: string, sha: string, attempt = 1): Promise<boolean> {
    const answer = await this.gitHub.createBranch(at, name, sha);
    if (answer === undefined) throw await unwritable(this.gitHub, at);
    if (answer === 'created') return true;
    if (answer === 'exists') {
      await this.requireBranchAt(at, name, sha);
      return attempt > 1;
    }
    if ((await this.gitHub.branch(at, name)) === sha) return true;
    if (attempt === MAX_ATTEMPTS) throw outcomeUnknown(`Branch "${name}"`);
    return this.make(at, name, sha, attempt + 1);
  }

  /** Whether the commit is on the branch now. What is sent again after a lost answer may find others built on it. */
  async move(at: RepositoryName, branch: string, commit: PlacedCommit, attempt = 1): Promise<boolean> {
    const moved = await written(this.gitHub, at, this.gitHub.moveBranch(at, branch, commit.sha));
    if (moved === 'moved') return true;
    if (moved === 'stale' && attempt === 1) return false;
    if (await this.holds(at, branch, commit)) return true;
    if (moved === 'stale') return false;
    if (attempt === MAX_ATTEMPTS) throw outcomeUnknown(`Commit ${commit.sha}`);
    return this.move(at, branch, commit, attempt + 1);
  }

  /** Whether the branch leads to the commit, by way of at most so many others. */
  private async holds(at: RepositoryName, branch: string, { sha, parent }: PlacedCommit): Promise<boolean> {
    let ahead = [await found(this.gitHub, at, this.gitHub.branch(at, branch))];
    for (let looked = 0; looked < MAX_LOOKED_THROUGH; looked++) {
      const [next, ...others] = ahead;
      if (next === undefined) return false;
      if (next === sha) return true;
      const { parents } = await found(this.gitHub, at, this.gitHub.commit(at, next));
      ahead = [...others, ...parents.filter((one) => one !== parent)];
    }
    throw outcomeUnknown(`Commit ${sha}`);
  }

  private async requireBranchAt(at: RepositoryName, name: string, sha: string): Promise<void> {
    const there = await this.gitHub.branch(at, name);
    if (there === sha) return;
    throw new MusterError('CONFLICT', `Branch "${name}" exists at another commit.`, {
      field: 'branch',
      reason: 'BRANCH_EXISTS',
      suggestion: 'Use it as it is, or choose another name.',
    });
  }
}

// Creating issues. Source: spec/network.md, "github.createIssue".

const MARK_LENGTH = 20;

const HOUR_MILLISECONDS = 3_600_000;

export interface CreatedIssue {
  readonly issue: Issue;
  /** False where an earlier attempt of the same call had created it. */
  readonly created: boolean;
}

export class Issues {
  private readonly ports: GitHubPorts;

  constructor(ports: GitHubPorts) {
    this.ports = ports;
  }

  /**
   * Creates an issue with a mark that nobody sees, and then stores the answer under the call's idempotency key. Where
   * GitHub's answer is lost, the issue is found by its mark, and so it is by a repetition, where an instance died in
   * between.
   */
  async create(
    at: RepositoryName,
    issue: NewIssue,
    operation: Operation,
    recordAnswer: RecordAnswer<CreatedIssue>,
  ): Promise<CreatedIssue> {
    const id = operation.derivedId('issue');
    const mark = markOf(id ?? this.ports.randomness.letters(MARK_LENGTH));
    const earlier = id === undefined ? undefined : await this.find(at, mark);
    const outcome = earlier ? { issue: earlier, created: false } : await this.createNew(at, issue, mark);
    await this.ports.store.commit([], recordAnswer(outcome));
    return outcome;
  }

  private async createNew(at: RepositoryName, issue: NewIssue, mark: string): Promise<CreatedIssue> {
    const body = issue.body === undefined ? mark : `${issue.body}\n\n${mark}`;
    const made = await this.ports.gitHub.createIssue(at, { ...issue, body });
    if (made === undefined) throw await unwritable(this.ports.gitHub, at);
    const created = made === 'unanswered' ? await this.find(at, mark) : made;
    if (created === undefined) throw outcomeUnknown('The issue');
    return { issue: created, created: true };
  }

  private find(at: RepositoryName, mark: string): Promise<Issue | undefined> {
    // To the hour, so that the same is asked again, which costs nothing where nothing has changed.
    const hour = Math.floor(this.ports.clock.now().getTime() / HOUR_MILLISECONDS) - REPLAY_HOURS;
    const since = new Date(hour * HOUR_MILLISECONDS);
    return this.ports.gitHub.findIssue(at, mark, since);
  }
}

function markOf(id: string): string {
  return `<!-- muster:${id} -->`;
}
