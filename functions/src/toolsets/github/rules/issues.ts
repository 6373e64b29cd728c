/** Creating issues. Source: spec/network.md, "github.createIssue". */
import { type Operation, REPLAY_HOURS, type RecordAnswer } from '../../../kernel/commit.ts';
import type { Issue } from './answers.ts';
import { refusal } from './errors.ts';
import type { GitHubPorts, NewIssue, RepositoryName } from './ports.ts';

const MARK_LENGTH = 20;

const HOUR_MILLISECONDS = 3_600_000;

interface CreatedIssue extends Issue {
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
    const mark = `<!-- muster:${id ?? this.ports.randomness.letters(MARK_LENGTH)} -->`;
    const earlier = id === undefined ? undefined : await this.find(at, mark);
    const outcome = earlier
      ? { ...earlier, created: false }
      : { ...(await this.createNew(at, issue, mark)), created: true };
    await this.ports.store.commit([], recordAnswer(outcome));
    return outcome;
  }

  private async createNew(at: RepositoryName, issue: NewIssue, mark: string): Promise<Issue> {
    const body = issue.body === undefined ? mark : `${issue.body}\n\n${mark}`;
    const made = await this.ports.gitHub.createIssue(at, { ...issue, body });
    const created = made === 'unanswered' ? await this.find(at, mark) : made;
    if (created === undefined) throw refusal('GITHUB_ERROR', 'outcomeUnknown', { what: 'The issue' });
    return created;
  }

  private find(at: RepositoryName, mark: string): Promise<Issue | undefined> {
    // To the hour, so that the same is asked again, which costs nothing where nothing has changed.
    const hour = Math.floor(this.ports.clock.now().getTime() / HOUR_MILLISECONDS) - REPLAY_HOURS;
    return this.ports.gitHub.findIssue(at, mark, new Date(hour * HOUR_MILLISECONDS));
  }
}
