/** Pull requests: creating them, the task of each, and what GitHub tells of them. Source: spec/network.md. */
import { hasRole, type Principal } from '../../../access/rules/principal.ts';
import type { Change, RecordAnswer } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { isClosed, TaskFinishing, taskNotFound } from '../../coordination/index.ts';
import { outcomeUnknown, refNotFound, unwritable } from './errors.ts';
import { headName, refName } from './names.ts';
import type { GitHubPorts, NewPullRequest, PullRequest, RepositoryName } from './port.ts';

interface PullRequestRequest {
  readonly principal: Principal;
  readonly workspace: string;
  readonly at: RepositoryName;
  readonly pullRequest: NewPullRequest;
  /** The task that is done when it is merged. */
  readonly taskId?: string;
}

export interface CreatedPullRequest {
  readonly pullRequest: PullRequest;
  /** False where there was an open one from the same branch into the same branch. */
  readonly created: boolean;
}

export class PullRequests {
  private readonly ports: GitHubPorts;

  constructor(ports: GitHubPorts) {
    this.ports = ports;
  }

  /** Creates a pull request, or gives the open one; then notes its task together with the call's answer. */
  async create(
    request: PullRequestRequest,
    recordAnswer: RecordAnswer<CreatedPullRequest>,
  ): Promise<CreatedPullRequest> {
    const { at, taskId, pullRequest } = request;
    const { owner = at.owner, branch } = headName(pullRequest.head);
    refName(pullRequest.base, 'base');
    if (taskId !== undefined) await this.requireTask(request, taskId);
    const outcome = await this.findOrCreate(at, `${owner}:${branch}`, withTask(pullRequest, taskId));
    const { store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const changes =
        taskId === undefined ? [] : await this.linkChanges(request, taskId, outcome.pullRequest);
      await store.commit(changes, recordAnswer(outcome));
      return outcome;
    });
  }

  private async findOrCreate(
    at: RepositoryName,
    head: string,
    pullRequest: NewPullRequest,
  ): Promise<CreatedPullRequest> {
    const { gitHub } = this.ports;
    const open = await gitHub.findPullRequest(at, head, pullRequest.base);
    if (open !== undefined) return { pullRequest: open, created: false };
    const created = await gitHub.createPullRequest(at, pullRequest);
    if (created === undefined) throw await unwritable(gitHub, at);
    if (typeof created !== 'string') return { pullRequest: created, created: true };
    const there = await gitHub.findPullRequest(at, head, pullRequest.base);
    if (created === 'unanswered') {
      // There was none a moment ago.
      if (there === undefined) throw outcomeUnknown('The pull request');
      return { pullRequest: there, created: true };
    }
    // Somebody else was faster.
    if (there === undefined) throw refNotFound(at, pullRequest.head, 'head');
    return { pullRequest: there, created: false };
  }

  /** Whoever links a pull request to a task decides when it is done: its holder does, or a leader. */
  private async requireTask({ principal, workspace }: PullRequestRequest, taskId: string): Promise<void> {
    const task = (await this.ports.tasks.find(taskId))?.value;
    if (task?.workspace !== workspace) throw taskNotFound(taskId);
    if (isClosed(task.status)) {
      throw new MusterError('CONFLICT', `Task "${taskId}" is ${task.status} already.`, {
        field: 'task_id',
        reason: 'WRONG_STATE',
        suggestion: 'Leave task_id out, or name a task that is still open.',
      });
    }
    const holder = task.claim?.agentId;
    if (holder === undefined || holder === principal.agentId || hasRole(principal.role, 'leader')) return;
    throw new MusterError('FORBIDDEN', `Task "${taskId}" is held by "${holder}".`, {
      field: 'task_id',
      reason: 'NOT_HOLDER',
      suggestion: 'Only its holder or a leader says which pull request finishes a task.',
    });
  }

  private async linkChanges(
    { principal, at }: PullRequestRequest,
    taskId: string,
    { repositoryId, number }: PullRequest,
  ): Promise<readonly Change[]> {
    const { pullRequestLinks, clock } = this.ports;
    const known = await pullRequestLinks.find(repositoryId, number);
    if (known?.taskId === taskId) return [];
    if (known !== undefined) {
      throw new MusterError('CONFLICT', `Pull request ${number} belongs to task "${known.taskId}".`, {
        field: 'task_id',
        reason: 'LINKED_TO_ANOTHER_TASK',
        suggestion: 'A pull request finishes one task. Leave task_id out, or open one from another branch.',
      });
    }
    const link = { repositoryId, number, ...at, taskId, linkedBy: principal.uid, linkedAt: clock.now() };
    return [{ kind: 'linkPullRequest', link }];
  }
}

/** For people who read the pull request; Muster itself goes by what it stored. */
function withTask(pullRequest: NewPullRequest, taskId: string | undefined): NewPullRequest {
  if (taskId === undefined) return pullRequest;
  const line = `Muster-Task: ${taskId}`;
  const { body } = pullRequest;
  return { ...pullRequest, body: body === undefined ? line : `${body}\n\n${line}` };
}

/** That a pull request belongs to a task: `pullRequests/{repositoryId}-{number}`. */
export interface PullRequestLink {
  readonly repositoryId: number;
  readonly number: number;
  readonly owner: string;
  readonly repo: string;
  readonly taskId: string;
  readonly linkedBy: string;
  readonly linkedAt: Date;
}

export interface PullRequestLinks {
  find(repositoryId: number, number: number): Promise<PullRequestLink | undefined>;
}

/** What commits may change of links. */
export interface LinkChanges {
  readonly linkPullRequest: { readonly link: PullRequestLink };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends LinkChanges {}
}

// What GitHub tells of by itself: a pull request was merged, a check failed. Only what Muster stored says
// which task a pull request belongs to. Deliveries come twice and out of order: closing a task twice is
// closing it once, and a failed check is logged under an id of its own.

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
