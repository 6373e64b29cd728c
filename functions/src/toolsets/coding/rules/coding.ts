/** Coding tasks, as whoever wants one sees them. Source: spec/coding.md. */

import { type Availability, availability, withPresence } from '../../../access/rules/liveness.ts';
import type { Principal } from '../../../access/rules/principal.ts';
import type { Change, RecordAnswer } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { requireSize } from '../../../kernel/json.ts';
import type { Slice } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import {
  asCodingTask,
  CODING_GOAL,
  CODING_TOOLS,
  type CodingTask,
  type CodingTool,
  type PastAttempt,
  programOf,
  projectCapability,
  requireCodingTask,
  type Session,
  type SessionCounters,
  type StoredResult,
  type Task,
  type TaskCreation,
} from '../../coordination/index.ts';
import { refName } from '../../github/index.ts';
import type { CodingFilter, LogExcerpt, LogType } from './log.ts';
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

/** An agent that has declared a tool's program. */
interface Runner {
  readonly id: string;
  readonly availability: Availability;
}

interface CodingOverview {
  readonly pending: number;
  readonly inProgress: number;
  readonly tools: readonly { readonly tool: CodingTool; readonly runners: readonly Runner[] }[];
}

/** A runner's session on a task: one attempt. `past` where it failed and the task went on. */
interface RunnerSession {
  readonly task: CodingTask;
  readonly past?: PastAttempt;
}

interface CoordinationSession {
  readonly session: Session;
  readonly isOpen: boolean;
  readonly counters: SessionCounters;
}

/** How many agents of each tool are shown. */
const MAX_RUNNERS = 20;

/** How much of a log a report shows, in bytes. */
const REPORTED_LOG_BYTES = 64 * 1024;

export class CodingService extends Service<CodingPorts> {
  private readonly taskCreation: TaskCreation;

  constructor(ports: CodingPorts, taskCreation: TaskCreation) {
    super(ports);
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

  now(): Date {
    return this.ports.clock.now();
  }

  async overview(workspace: string): Promise<CodingOverview> {
    const { codingTasks } = this.ports;
    const [pending, inProgress, tools] = await Promise.all([
      codingTasks.count(workspace, ['available', 'claimed']),
      codingTasks.count(workspace, ['in_progress', 'waiting']),
      Promise.all(CODING_TOOLS.map(async (tool) => ({ tool, runners: await this.runners(tool) }))),
    ]);
    return { pending, inProgress, tools };
  }

  /** Newest first. */
  list(workspace: string, filter: CodingFilter, limit: number): Promise<Slice<CodingTask>> {
    return this.ports.codingTasks.list(workspace, filter, { limit });
  }

  /** @throws MusterError NOT_FOUND */
  async logTail(workspace: string, taskId: string, limit: number, bytes: number): Promise<LogExcerpt> {
    const [, tail] = await Promise.all([
      this.find(workspace, taskId),
      this.ports.taskLogs.tail(taskId, limit, bytes),
    ]);
    return tail;
  }

  /**
   * The JSON of a result.
   * @throws MusterError NOT_FOUND where there is no task, or no result yet
   */
  async result(workspace: string, taskId: string): Promise<string> {
    const { coding } = (await this.find(workspace, taskId)).task;
    if (coding.result === undefined) throw notFound(`Task "${taskId}" has no result.`);
    return this.ports.codingTasks.result(taskId, coding.result);
  }

  /** @param date `2026-11-22`, in UTC */
  logsOfDay(workspace: string, type: LogType, date: string, limit: number) {
    return this.ports.taskLogs.ofDay(workspace, type, date, limit);
  }

  /** @throws MusterError NOT_FOUND where the task had no such attempt */
  async runnerSession(workspace: string, taskId: string, epoch: number): Promise<RunnerSession> {
    const { task } = await this.find(workspace, taskId);
    if (task.claim?.epoch === epoch) return { task };
    const past = task.coding.attempts.find((attempt) => attempt.epoch === epoch);
    if (past === undefined) throw notFound(`Task "${taskId}" had no session ${epoch}.`);
    return { task, past };
  }

  /** @throws MusterError NOT_FOUND */
  async coordinationSession(workspace: string, id: string): Promise<CoordinationSession> {
    const { sessions } = this.ports;
    const open = (await sessions.current(workspace))?.session;
    const isOpen = open?.id === id;
    const session = isOpen ? open : await sessions.archived(workspace, id);
    if (session === undefined) throw notFound(`There is no coordination session "${id}" here.`);
    return { session, isOpen, counters: await sessions.counters(workspace, id) };
  }

  /** The id of the coordination session that is open. */
  async openSessionId(workspace: string): Promise<string | undefined> {
    return (await this.ports.sessions.current(workspace))?.session.id;
  }

  /**
   * Yields when a task or its log has changed.
   * @throws MusterError NOT_FOUND
   */
  async watch(workspace: string, taskId: string, gone: AbortSignal): Promise<AsyncIterable<undefined>> {
    await this.find(workspace, taskId);
    return this.ports.codingWatch.task(taskId, gone);
  }

  private async runners(tool: CodingTool): Promise<readonly Runner[]> {
    const { directory, presence } = this.ports;
    const { items } = await directory.list({ capabilities: [programOf(tool)] }, MAX_RUNNERS, undefined);
    const seen = await presence.lastSeen(items.map(({ id }) => id));
    const now = this.now();
    return items.map((agent) => ({
      id: agent.id,
      availability: availability(withPresence(agent, seen.get(agent.id), now)),
    }));
  }
}

function notFound(message: string): MusterError {
  return new MusterError('NOT_FOUND', message);
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
