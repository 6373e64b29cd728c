/** Creates and reads coding tasks. Source: the coding specification. */
import { availability, withPresence } from '../../../agents/rules/liveness.ts';
import type { NodeRef } from '../../../graph/rules/graphNode.ts';
import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { MusterError, shownName } from '../../../kernel/errors.ts';
import type { ListPage } from '../../../kernel/paging.ts';
import { readUnreadable, Service } from '../../../kernel/ports.ts';
import {
  asCodingTask,
  CODING_GOAL,
  CODING_TOOLS,
  type CodingTask,
  isClosed,
  OTHER_PROGRAM,
  projectCapability,
  requireCodingTask,
  type Task,
  type TaskDraft,
  TOOL_NAME,
  toolCapability,
} from '../../coordination/index.ts';
import { refName } from '../../github/index.ts';
import type { LogType } from './log.ts';
import type { CodingFilter } from './ports.ts';
import { type CodingPorts, codingConfig, defaultBranch, findCodingTask, type ReadTask } from './task.ts';

interface CodingDraft {
  readonly workspace: string;
  readonly tool: string;
  readonly description: string;
  readonly instructions: string;
  readonly branch?: string | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  readonly priority: number;
  readonly dependencies?: readonly string[] | undefined;
  readonly context_files?: readonly string[] | undefined;
  readonly part_of?: NodeRef | undefined;
  readonly traceparent?: string | undefined;
  readonly acceptance?: TaskDraft['acceptance'];
}

/** Maximum number of runners that the overview names per tool. */
const MAX_RUNNERS = 20;

/** Maximum number of tools of a workspace that only its runners know. */
const MAX_OTHER_TOOLS = 50;

/** Default limits for the latest log lines that are returned with a task. */
const MAX_SHOWN_LINES = 50;
const MAX_SHOWN_LOG_BYTES = 16_000;

export class CodingService extends Service<CodingPorts> {
  /** @throws MusterError VALIDATION_ERROR, also for a tool that no runner declared; INVALID_FORMAT for a branch name */
  async create(
    principal: Principal,
    draft: CodingDraft,
    recordResponse: RecordResponse<CodingTask>,
  ): Promise<CodingTask> {
    const { tool, description, instructions, workspace, priority, dependencies = [], traceparent } = draft;
    const branch = draft.branch === undefined ? undefined : refName(draft.branch, 'branch');
    const configuration = codingConfig(draft.config);
    const { project, queue_seconds } = configuration;
    if (!CODING_TOOLS.includes(tool)) await this.requireDeclared(workspace, tool);
    const request = {
      workspace,
      createdBy: principal.agent_id ?? principal.uid,
      opener: principal,
      viewer: principal,
      goal: CODING_GOAL,
      drafts: [
        {
          description,
          priority,
          dependencies,
          files: draft.context_files ?? [],
          part_of: draft.part_of,
          acceptance: draft.acceptance,
          ...(traceparent !== undefined && { traceparent }),
          required_capabilities: [toolCapability(tool), ...(project === undefined ? [] : [projectCapability(project)])],
          coding: (taskId: string, now: Date) => ({
            tool,
            instructions,
            ...configuration,
            branch: branch ?? defaultBranch(taskId, description),
            owner_uid: principal.owner_uid,
            queue_ends_at: new Date(now.getTime() + queue_seconds * 1000),
            attempts: [],
            returns: 0,
          }),
        },
      ],
    };
    return created(await this.ports.taskCreation.create(request, (tasks) => recordResponse(created(tasks))));
  }

  /** @throws MusterError NOT_FOUND */
  async find(workspace: string, taskId: string): Promise<ReadTask> {
    const { value: task } = await findCodingTask(this.ports.tasks, { workspace, taskId });
    return { task, now: this.now() };
  }

  /** Returns a task and the latest lines of its log. @throws MusterError NOT_FOUND */
  async findWithLog(workspace: string, taskId: string, limit = MAX_SHOWN_LINES, bytes = MAX_SHOWN_LOG_BYTES) {
    const reading = this.ports.taskLogs.tail(taskId, limit, bytes);
    return { ...(await this.findSibling(workspace, taskId, reading)), log: await reading };
  }

  /** Returns a page of a task's log, starting at line `from`. @throws MusterError NOT_FOUND */
  async logs(workspace: string, taskId: string, from: number, limit: number) {
    const reading = this.ports.taskLogs.read(taskId, from, limit);
    await this.findSibling(workspace, taskId, reading);
    return reading;
  }

  /** Finds a task while another read runs. If the caller may not see the task, that read's outcome is discarded. */
  private findSibling(workspace: string, taskId: string, reading: Promise<unknown>): Promise<ReadTask> {
    reading.catch(() => undefined);
    return this.find(workspace, taskId);
  }

  /** @param date in UTC, such as `2026-11-22` */
  logsOfDay(workspace: string, type: LogType, date: string, limit: number) {
    return this.ports.taskLogs.ofDay(workspace, type, date, limit);
  }

  /** Returns the JSON text of a task's result. @throws MusterError NOT_FOUND if the task has no result */
  async result({ id, coding: { result } }: CodingTask): Promise<string> {
    if (result === undefined) throw notFound(`Task "${id}" has no result.`);
    return this.ports.codingTasks.result(id, result);
  }

  list(workspace: string, filter: CodingFilter, limit: number): Promise<ListPage<CodingTask>> {
    return this.ports.codingTasks.list(workspace, filter, { limit });
  }

  async overview(workspace: string) {
    const { codingTasks } = this.ports;
    const runners = async (names: readonly string[]) =>
      Promise.all(names.map(async (tool) => ({ tool, runners: await this.runners(workspace, tool) })));
    const [pendingTasks, activeTasks, ...tools] = await Promise.all([
      codingTasks.count(workspace, ['available', 'claimed']),
      codingTasks.count(workspace, ['in_progress', 'waiting']),
      runners(CODING_TOOLS),
      this.otherTools(workspace).then(runners),
    ]);
    return { activeTasks, pendingTasks, tools: tools.flat() };
  }

  /** Returns one attempt. `past` is set unless the attempt is the latest claim. @throws MusterError NOT_FOUND */
  async runnerSession(workspace: string, taskId: string, epoch: number) {
    const { task } = await this.find(workspace, taskId);
    if (task.claim?.claim_epoch === epoch) return { task };
    const past = task.coding.attempts.find((attempt) => attempt.claim_epoch === epoch);
    if (past === undefined) throw notFound(`Task "${taskId}" has no attempt with the claim epoch ${epoch}.`);
    return { task, past };
  }

  /** @throws MusterError NOT_FOUND */
  async coordinationSession(workspace: string, id: string) {
    const { sessions } = this.ports;
    const open = (await sessions.current(workspace))?.session;
    const isOpen = open?.id === id;
    const session = isOpen ? open : (await sessions.archived(workspace, id))?.value;
    if (session === undefined) throw notFound(`Coordination session "${id}" not found in this workspace.`);
    return { session, isOpen, counters: await sessions.counters(workspace, id) };
  }

  async openSessionId(workspace: string): Promise<string | undefined> {
    return (await this.ports.sessions.current(workspace))?.session.id;
  }

  /** Yields after each change of a task or its log. @throws MusterError NOT_FOUND */
  async watch(workspace: string, taskId: string, disconnected: AbortSignal): Promise<AsyncIterable<unknown>> {
    await this.find(workspace, taskId);
    return this.ports.codingTasks.changes(taskId, disconnected);
  }

  /** Resolves when the task has ended, or when the signal aborts. @throws MusterError NOT_FOUND */
  async ended(workspace: string, taskId: string, until: AbortSignal): Promise<void> {
    for await (const _change of await this.watch(workspace, taskId, until))
      if (isClosed((await this.find(workspace, taskId)).task.status)) return;
  }

  /** Returns a task of any workspace in which the caller has a role. @throws MusterError NOT_FOUND */
  async findVisible(principal: Principal, taskId: string): Promise<CodingTask> {
    const isTheirs = (workspace: string) => roleIn(principal, workspace) !== undefined;
    const found = await readUnreadable(isTheirs, this.ports.tasks.find(taskId));
    const workspace = found?.value.workspace ?? '';
    return requireCodingTask(isTheirs(workspace) ? found : undefined, taskId, workspace).value;
  }

  now(): Date {
    return this.ports.clock.now();
  }

  /** Returns the name of a person; the uid if the person has no account or no name. */
  async nameOf(uid: string): Promise<string> {
    const { name, email = uid } = (await this.ports.idTokens.profiles([uid])).get(uid) ?? {};
    return name ?? email;
  }

  /** Returns the tools that runners of the workspace declared and Muster does not know. */
  private async otherTools(workspace: string): Promise<readonly string[]> {
    const names = await this.ports.directory.capabilitiesFrom(workspace, OTHER_PROGRAM, MAX_OTHER_TOOLS);
    return names.map((name) => name.slice(OTHER_PROGRAM.length).toUpperCase()).filter((name) => TOOL_NAME.test(name));
  }

  private async requireDeclared(workspace: string, tool: string): Promise<void> {
    const others = await this.otherTools(workspace);
    if (others.includes(tool)) return;
    throw new MusterError('VALIDATION_ERROR', `Unknown coding tool "${shownName(tool)}".`, {
      field: 'tool',
      value: tool,
      reason: 'UNKNOWN_TOOL',
      suggestion: `Use one of: ${CODING_TOOLS.join(', ')}. Runners here declared: ${others.join(', ') || 'no other tools'}.`,
    });
  }

  private async runners(workspace: string, tool: string) {
    const { directory, presence } = this.ports;
    const query = { workspace, capabilities: [toolCapability(tool)] };
    const { items } = await directory.list(query, MAX_RUNNERS, undefined);
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
  if (task === undefined) throw new Error('The created coding task is missing.');
  return asCodingTask(task);
}
