/** Creating issues. Source: spec/network.md, "github.createIssue". */
import type { Operation } from '../idempotency/operation.ts';
import { REPLAY_HOURS } from '../idempotency/operation.ts';
import type { Clock } from '../ports.ts';
import type { Settle, Store } from '../store.ts';
import { repositoryNotFound } from './errors.ts';
import type { GitHub, Issue, NewIssue } from './port.ts';
import type { RepositoryName } from './repository.ts';

export interface IssuesDependencies {
  readonly gitHub: GitHub;
  readonly store: Store;
  readonly clock: Clock;
}

export interface CreatedIssue {
  readonly issue: Issue;
  /** False where an earlier attempt of the same call had created it. */
  readonly created: boolean;
}

export class Issues {
  private readonly dependencies: IssuesDependencies;

  constructor(dependencies: IssuesDependencies) {
    this.dependencies = dependencies;
  }

  /**
   * Creates an issue, and then stores the answer under the call's idempotency key. An instance that dies in
   * between leaves the issue with a mark that nobody sees; the repetition finds it by that.
   */
  async create(
    at: RepositoryName,
    issue: NewIssue,
    operation: Operation,
    settle: Settle<CreatedIssue>,
  ): Promise<CreatedIssue> {
    const id = operation.derivedId('issue');
    const outcome = id === undefined ? await this.createNew(at, issue) : await this.createOnce(at, issue, id);
    await this.dependencies.store.commit([], settle(outcome));
    return outcome;
  }

  private async createOnce(at: RepositoryName, issue: NewIssue, id: string): Promise<CreatedIssue> {
    const mark = `<!-- muster:${id} -->`;
    const since = new Date(this.dependencies.clock.now().getTime() - REPLAY_HOURS * 3_600_000);
    const earlier = await this.dependencies.gitHub.findIssue(at, mark, since);
    if (earlier !== undefined) return { issue: earlier, created: false };
    const body = issue.body === undefined ? mark : `${issue.body}\n\n${mark}`;
    return this.createNew(at, { ...issue, body });
  }

  private async createNew(at: RepositoryName, issue: NewIssue): Promise<CreatedIssue> {
    const created = await this.dependencies.gitHub.createIssue(at, issue);
    if (created === undefined) throw repositoryNotFound(at);
    return { issue: created, created: true };
  }
}
