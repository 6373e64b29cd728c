/**
 * What GitHub tells of by itself: a pull request was merged, a check failed. Only what Muster stored says which
 * task a pull request belongs to. Deliveries come twice and out of order: closing a task twice is closing it
 * once, and a failed check is logged under an id of its own.
 */
import { MusterError } from '../../../kernel/errors.ts';
import { TaskFinishing } from '../../coordination/index.ts';
import type { GitHubPorts } from './ports.ts';
import type { PullRequestLink } from './pullRequests.ts';

interface MergedPullRequest {
  readonly kind: 'merged';
  readonly repositoryId: number;
  readonly number: number;
  readonly commit?: string;
}

interface FailedCheck {
  readonly kind: 'checkFailed';
  readonly repositoryId: number;
  /** Of the pull requests that the checked commit is the head of. */
  readonly pullRequests: readonly number[];
  readonly source: 'check_run' | 'check_suite' | 'workflow_run';
  /** With the source, what there is one log entry for. */
  readonly id: string;
  readonly name: string;
  readonly conclusion: string;
  readonly commit: string;
  readonly url?: string;
  /** For github.getJobLogs. */
  readonly runId?: number;
}

export type Delivery = MergedPullRequest | FailedCheck;

export class Deliveries {
  private readonly ports: GitHubPorts;
  private readonly finishing: TaskFinishing;

  constructor(ports: GitHubPorts) {
    this.ports = ports;
    this.finishing = new TaskFinishing(ports);
  }

  async receive(delivery: Delivery): Promise<void> {
    const numbers = delivery.kind === 'merged' ? [delivery.number] : delivery.pullRequests;
    for (const number of numbers) {
      const link = await this.ports.pullRequestLinks.find(delivery.repositoryId, number);
      if (link === undefined) continue;
      if (delivery.kind === 'merged') await this.finish(link, delivery);
      else await this.record(link, delivery);
    }
  }

  private async finish(link: PullRequestLink, { commit }: MergedPullRequest): Promise<void> {
    const { log } = this.ports;
    const at = commit === undefined ? '' : ` as ${commit}`;
    const output = `Pull request ${link.owner}/${link.repo}#${link.number} was merged${at}.`;
    try {
      const { kind } = await this.finishing.finish(link.taskId, { output });
      log.info('pull_request_merged', { taskId: link.taskId, kind });
    } catch (error) {
      // The task is gone: another delivery of the same would not find it either.
      if (!(error instanceof MusterError && error.code === 'NOT_FOUND')) throw error;
      log.warn('pull_request_without_task', { taskId: link.taskId });
    }
  }

  private async record(link: PullRequestLink, check: FailedCheck): Promise<void> {
    const { source, id, name, conclusion, commit, url, runId } = check;
    const entry = {
      id: `${source}-${id}`,
      kind: 'check_failed' as const,
      at: this.ports.clock.now(),
      details: {
        source,
        name,
        conclusion,
        commit,
        pull_request: link.number,
        repository: `${link.owner}/${link.repo}`,
        ...(url !== undefined && { url }),
        ...(runId !== undefined && { run_id: runId }),
      },
    };
    await this.ports.store.commit([{ kind: 'logTask', taskId: link.taskId, entry }]);
  }
}
