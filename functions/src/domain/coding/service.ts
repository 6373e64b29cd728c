/** Coding tasks, as whoever wants one sees them. Source: spec/coding.md. */
import { CODING_GOAL } from '../coordination/session.ts';
import { refName } from '../github/names.ts';
import type { Principal } from '../principal.ts';
import type { Settle } from '../store.ts';
import type { TaskCreation } from '../tasks/creation.ts';
import type { Task } from '../tasks/task.ts';
import { usualBranch } from './branch.ts';
import { projectCapability } from './claiming.ts';
import { codingConfig } from './configuration.ts';
import type { CodingPorts } from './ports.ts';
import type { LogExcerpt } from './readers.ts';
import { asCodingTask, type CodingTask, requireCodingTask } from './task.ts';
import { type CodingTool, programOf } from './tool.ts';

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
  private readonly ports: CodingPorts;
  private readonly taskCreation: TaskCreation;

  constructor(ports: CodingPorts, taskCreation: TaskCreation) {
    this.ports = ports;
    this.taskCreation = taskCreation;
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
    return created(await this.taskCreation.create(request, (tasks) => settle(created(tasks))));
  }

  /** @throws MusterError NOT_FOUND */
  async find(workspace: string, taskId: string): Promise<Seen> {
    const found = await this.ports.tasks.find(taskId);
    return { task: requireCodingTask(found, taskId, workspace).value, now: this.ports.clock.now() };
  }

  /** @throws MusterError NOT_FOUND */
  async report(workspace: string, taskId: string, lines: number): Promise<Report> {
    const { codingTasks, taskLogs } = this.ports;
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
      this.ports.taskLogs.read(taskId, from, limit),
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
}

function created([task]: readonly Task[]): CodingTask {
  if (task === undefined) throw new Error('A coding task was created and is not there.');
  return asCodingTask(task);
}
