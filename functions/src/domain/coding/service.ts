/** Coding tasks, as whoever wants one sees them. Source: spec/coding.md. */
import { CODING_GOAL } from '../coordination/session.ts';
import { MusterError } from '../errors.ts';
import { refName } from '../github/names.ts';
import type { Clock, Randomness } from '../ports.ts';
import type { Principal } from '../principal.ts';
import type { SessionReader, TaskReader } from '../readers.ts';
import { retryStale } from '../retry.ts';
import type { Change, Settle, Store, Versioned } from '../store.ts';
import { taskChanges } from '../tasks/changes.ts';
import type { TaskCreation } from '../tasks/creation.ts';
import { startTask } from '../tasks/machine.ts';
import { isHeld, type Task } from '../tasks/task.ts';
import { type Acting, authoriseDeciding, claimantOf, isHolder } from './authority.ts';
import { usualBranch } from './branch.ts';
import { projectCapability } from './claiming.ts';
import { codingConfig } from './configuration.ts';
import { type Ended, type Ending, type EndReport, endByDecision, endByRunner } from './ending.ts';
import type { LogEntry } from './log.ts';
import { appendNote } from './logBook.ts';
import type { CodingTaskReader, LogExcerpt, TaskLogReader } from './readers.ts';
import { packResult } from './result.ts';
import { codingStatus } from './status.ts';
import { asCodingTask, type CodingTask, requireCodingTask } from './task.ts';
import { type CodingTool, programOf } from './tool.ts';
import { appendChanges, endingChanges } from './writing.ts';

export interface CodingDependencies {
  readonly tasks: TaskReader;
  readonly sessions: SessionReader;
  readonly codingTasks: CodingTaskReader;
  readonly taskLogs: TaskLogReader;
  readonly taskCreation: TaskCreation;
  readonly acting: Acting;
  readonly store: Store;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

export interface CodingDraft {
  readonly workspace: string;
  readonly tool: CodingTool;
  readonly description: string;
  readonly instructions: string;
  readonly branch?: string | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  readonly priority: number;
  readonly dependencies?: readonly string[] | undefined;
}

/** Which task, in which workspace. */
export interface TaskAddress {
  readonly workspace: string;
  readonly taskId: string;
}

export interface UpdateRequest extends TaskAddress {
  readonly status?: 'in_progress' | 'completed' | 'failed' | undefined;
  readonly log?: string | undefined;
}

export interface EndRequest extends TaskAddress, EndReport {
  /** Of the claim, where its runner reports. */
  readonly epoch?: number | undefined;
}

export interface Seen {
  readonly task: CodingTask;
  readonly now: Date;
}

export interface Report extends Seen {
  readonly logs: LogExcerpt;
  /** As it was given to end_task. */
  readonly result?: unknown;
}

/** How much of a log a report shows, in bytes. */
const REPORTED_LOG_BYTES = 64 * 1024;

export class CodingService {
  private readonly dependencies: CodingDependencies;

  constructor(dependencies: CodingDependencies) {
    this.dependencies = dependencies;
  }

  /** @throws MusterError VALIDATION_ERROR, INVALID_FORMAT for what is no branch */
  async create(principal: Principal, draft: CodingDraft, settle: Settle<CodingTask>): Promise<CodingTask> {
    const { tool, description, instructions, workspace, priority } = draft;
    const branch = draft.branch === undefined ? undefined : refName(draft.branch, 'branch');
    const configuration = codingConfig(draft.config);
    const { project, queueSeconds } = configuration;
    const request = {
      workspace,
      createdBy: principal.agentId ?? principal.uid,
      isBatch: false,
      goal: CODING_GOAL,
      field: (_: number, argument: string) => argument,
      drafts: [
        {
          description,
          priority,
          dependencies: draft.dependencies ?? [],
          files: [],
          requiredCapabilities: [
            programOf(tool),
            ...(project === undefined ? [] : [projectCapability(project)]),
          ],
          coding: (taskId: string, now: Date) => ({
            tool,
            instructions,
            ...configuration,
            branch: branch ?? usualBranch(taskId, description),
            ownerUid: principal.ownerUid,
            queueEndsAt: new Date(now.getTime() + queueSeconds * 1000),
            attempts: [],
          }),
        },
      ],
    };
    return created(await this.dependencies.taskCreation.create(request, (tasks) => settle(created(tasks))));
  }

  /**
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where the status would go back
   */
  async update(principal: Principal, request: UpdateRequest, settle: Settle<Seen>): Promise<Seen> {
    const { status, log } = request;
    if (status === undefined && log === undefined) throw nothingToUpdate();
    if (status === 'completed' || status === 'failed') {
      return this.finish(principal, { ...request, status }, settle, log);
    }
    return this.change(request, async (found, now) => {
      const { value: before } = found;
      if (!isHolder(principal, before)) authoriseDeciding(principal, before);
      const task = status === undefined ? before : started(before, principal, now);
      const changes = task === before ? [] : taskChanges(before, task, found.version, now);
      await this.dependencies.store.commit(
        [...changes, ...(await this.noted(before, principal, log, now))],
        settle({ task, now }),
      );
      return { task, now };
    });
  }

  /** @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where the claim or the state stands against it */
  end(principal: Principal, request: EndRequest, settle: Settle<Ended>): Promise<Ended> {
    return this.finish(principal, request, settle);
  }

  /** @throws MusterError NOT_FOUND */
  async find(workspace: string, taskId: string): Promise<Seen> {
    const found = await this.dependencies.tasks.find(taskId);
    return { task: requireCodingTask(found, taskId, workspace).value, now: this.dependencies.clock.now() };
  }

  /** @throws MusterError NOT_FOUND */
  async report(workspace: string, taskId: string, lines: number): Promise<Report> {
    const { codingTasks, taskLogs } = this.dependencies;
    const { task, now } = await this.find(workspace, taskId);
    const { result } = task.coding;
    const [logs, json] = await Promise.all([
      taskLogs.tail(taskId, lines, REPORTED_LOG_BYTES),
      result && codingTasks.result(taskId, result),
    ]);
    return { task, now, logs, ...(json !== undefined && { result: JSON.parse(json) }) };
  }

  /**
   * A page of a log from line `from` on.
   * @throws MusterError NOT_FOUND
   */
  async logs(workspace: string, taskId: string, from: number, limit: number) {
    const [, page] = await Promise.all([
      this.find(workspace, taskId),
      this.dependencies.taskLogs.read(taskId, from, limit),
    ]);
    const { lines, total } = page;
    const first = lines[0]?.line ?? from;
    const last = lines.at(-1);
    return {
      lines,
      total,
      dropped: Math.max(0, first - from),
      next: last === undefined ? from : last.line + 1,
    };
  }

  private finish(
    principal: Principal,
    request: EndRequest,
    settle: Settle<Ended>,
    log?: string,
  ): Promise<Ended> {
    return this.change(request, async ({ value: before, version }, now) => {
      const ending = await this.decide(principal, before, request, now);
      const packed =
        request.result === undefined || !isFinal(ending)
          ? undefined
          : packResult(before.id, ending.task.epoch, request.result);
      const task = packed
        ? { ...ending.task, coding: { ...ending.task.coding, result: packed.stored } }
        : ending.task;
      const ended = { task, now, outcome: ending.outcome };
      await this.dependencies.store.commit(
        [
          ...(await endingChanges(this.dependencies.sessions, before, { ...ending, task }, version)),
          ...(packed ? [packed.change] : []),
          ...(await this.noted(before, principal, log, now)),
        ],
        settle(ended),
      );
      return ended;
    });
  }

  private async decide(
    principal: Principal,
    before: CodingTask,
    request: EndRequest,
    now: Date,
  ): Promise<Ending> {
    const own = isHolder(principal, before) && isHeld(before.status) ? before.claim?.epoch : undefined;
    const epoch = request.epoch ?? own;
    if (epoch !== undefined) {
      const claimant = await claimantOf(this.dependencies.acting, principal, before, epoch);
      return endByRunner(before, claimant, request, now);
    }
    authoriseDeciding(principal, before);
    return endByDecision(before, request, principal.agentId ?? principal.uid, now);
  }

  private async noted(
    task: CodingTask,
    principal: Principal,
    log: string | undefined,
    now: Date,
  ): Promise<readonly Change[]> {
    if (log === undefined) return [];
    const note: LogEntry = {
      at: now,
      level: 'info',
      type: isHolder(principal, task) ? 'agent' : 'system',
      prefix: principal.agentId ?? principal.uid,
      message: log,
    };
    const head = await this.dependencies.taskLogs.head(task.id);
    return appendChanges(task, head, appendNote(head?.value, note));
  }

  private change<Result>(
    { workspace, taskId }: TaskAddress,
    attempt: (task: Versioned<CodingTask>, now: Date) => Promise<Result>,
  ): Promise<Result> {
    const { tasks, clock, randomness } = this.dependencies;
    return retryStale(randomness, async () =>
      attempt(requireCodingTask(await tasks.find(taskId), taskId, workspace), clock.now()),
    );
  }
}

function created([task]: readonly Task[]): CodingTask {
  if (task === undefined) throw new Error('A coding task was created and is not there.');
  return asCodingTask(task);
}

/** @throws MusterError CONFLICT unless the caller holds it and it has not ended */
function started(task: CodingTask, principal: Principal, now: Date): CodingTask {
  if (codingStatus(task.status) === 'in_progress') return task;
  return asCodingTask(startTask(task, { agentId: principal.agentId ?? principal.uid }, now));
}

/** Whether the task has ended with this result, or had ended without one. */
function isFinal({ outcome }: Ending): boolean {
  return outcome === 'ended' || outcome === 'kept';
}

function nothingToUpdate(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'There is nothing to update.', {
    field: 'status',
    reason: 'NOTHING_TO_UPDATE',
    suggestion: 'Give a status, a log message, or both.',
  });
}
