/** Creating issues. Source: spec/network.md, "github.createIssue". */
import type { Operation } from '../idempotency/operation.ts';
import { REPLAY_HOURS } from '../idempotency/operation.ts';
import type { Settle } from '../store.ts';
import { unwritable } from './absence.ts';
import { outcomeUnknown } from './errors.ts';
import type { Issue, NewIssue } from './port.ts';
import type { GitHubPorts } from './ports.ts';
import type { RepositoryName } from './repository.ts';

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
    settle: Settle<CreatedIssue>,
  ): Promise<CreatedIssue> {
    const id = operation.derivedId('issue');
    const mark = markOf(id ?? this.ports.randomness.letters(MARK_LENGTH));
    const earlier = id === undefined ? undefined : await this.find(at, mark);
    const outcome = earlier ? { issue: earlier, created: false } : await this.createNew(at, issue, mark);
    await this.ports.store.commit([], settle(outcome));
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
