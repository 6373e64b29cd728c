/** Looks at the coding tasks of a workspace: what its resources show, and what completes their names. */
import { type Availability, availability, withPresence } from '../../../access/rules/liveness.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Slice } from '../../../kernel/paging.ts';
import {
  CODING_TOOLS,
  type CodingTask,
  type CodingTool,
  type PastAttempt,
  programOf,
  requireCodingTask,
  type Session,
  type SessionCounters,
} from '../../coordination/index.ts';
import type { CodingFilter, LogExcerpt, LogType } from './log.ts';
import type { CodingPorts } from './task.ts';

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

export class CodingView {
  private readonly ports: CodingPorts;

  constructor(ports: CodingPorts) {
    this.ports = ports;
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
      this.task(workspace, taskId),
      this.ports.taskLogs.tail(taskId, limit, bytes),
    ]);
    return tail;
  }

  /**
   * The JSON of a result.
   * @throws MusterError NOT_FOUND where there is no task, or no result yet
   */
  async result(workspace: string, taskId: string): Promise<string> {
    const { coding } = await this.task(workspace, taskId);
    if (coding.result === undefined) throw notFound(`Task "${taskId}" has no result.`);
    return this.ports.codingTasks.result(taskId, coding.result);
  }

  /** @param date `2026-11-22`, in UTC */
  logsOfDay(workspace: string, type: LogType, date: string, limit: number) {
    return this.ports.taskLogs.ofDay(workspace, type, date, limit);
  }

  /** @throws MusterError NOT_FOUND where the task had no such attempt */
  async runnerSession(workspace: string, taskId: string, epoch: number): Promise<RunnerSession> {
    const task = await this.task(workspace, taskId);
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
    await this.task(workspace, taskId);
    return this.ports.codingWatch.task(taskId, gone);
  }

  private async task(workspace: string, taskId: string): Promise<CodingTask> {
    return requireCodingTask(await this.ports.tasks.find(taskId), taskId, workspace).value;
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
