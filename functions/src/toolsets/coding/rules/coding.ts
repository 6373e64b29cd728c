/** Coding tasks, as whoever wants one sees them. Source: spec/coding.md. */
import type { Principal } from '../../../access/rules/principal.ts';
import type { Change, RecordAnswer } from '../../../kernel/commit.ts';
import { requireSize } from '../../../kernel/json.ts';
import {
  asCodingTask,
  CODING_GOAL,
  type CodingTask,
  type CodingTool,
  programOf,
  projectCapability,
  requireCodingTask,
  type StoredResult,
  type Task,
  type TaskCreation,
} from '../../coordination/index.ts';
import { refName } from '../../github/index.ts';
import type { LogExcerpt } from './log.ts';
import { type CodingPorts, codingConfig, usualBranch } from './task.ts';

interface CodingDraft {
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

interface Report extends Seen {
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
  async create(
    principal: Principal,
    draft: CodingDraft,
    recordAnswer: RecordAnswer<CodingTask>,
  ): Promise<CodingTask> {
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
    return created(await this.taskCreation.create(request, (tasks) => recordAnswer(created(tasks))));
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

/** The largest result, in bytes of JSON. Source: spec/coding.md is silent; docs/semantics.md#coding. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** So many characters fit into a document, whatever they are. */
const PART_LENGTH = 300_000;

/** A result on its way into documents of its own. */
interface PackedResult {
  readonly stored: StoredResult;
  readonly change: Change;
}

/** @throws MusterError VALIDATION_ERROR where it is too large */
export function packResult(taskId: string, epoch: number, result: unknown): PackedResult {
  requireSize('A result', 'result', result, MAX_RESULT_BYTES);
  const json = JSON.stringify(result);
  const parts: string[] = [];
  for (let start = 0; start < json.length; ) {
    // Half of a surrogate pair is not Unicode.
    const end = start + PART_LENGTH - Number(/[\ud800-\udbff]/.test(json.charAt(start + PART_LENGTH - 1)));
    parts.push(json.slice(start, end));
    start = end;
  }
  return {
    stored: { epoch, bytes: new TextEncoder().encode(json).length, parts: parts.length },
    change: { kind: 'storeResult', taskId, epoch, parts },
  };
}
