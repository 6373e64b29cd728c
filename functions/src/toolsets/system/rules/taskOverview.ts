/** The task queue for system.getTaskQueue. Source: the network specification; docs/semantics.md#one-model. */
import { type Agent, isIn } from '../../../agents/rules/agent.ts';
import type { AgentLiveness } from '../../../agents/rules/liveness.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import { fitsPage } from '../../../kernel/json.ts';
import { MemoCache } from '../../../kernel/memoCache.ts';
import type { ListCursor } from '../../../kernel/paging.ts';
import { readFor, Service } from '../../../kernel/ports.ts';
import * as coordination from '../../coordination/index.ts';
import type { SystemPorts } from './ports.ts';

/** Cache lifetime in milliseconds. Ends early if the session, a counter or, by this instance, a task is changed. */
const CACHE_TTL_MS = 5000;

/** Maximum number of tasks to read if the list is for one agent. */
const MAX_OWN_TASKS = 100;

export interface TaskQueueRequest {
  readonly workspace: string;
  readonly agentId?: string | undefined;
  readonly priority?: coordination.PriorityWord | undefined;
  readonly status?: coordination.QueueStatus | undefined;
  readonly type?: string | undefined;
  readonly includeAssigned: boolean;
  readonly limit: number;
  readonly after?: QueueCursor | undefined;
}

/** Position in the list: the listed state, and the last listed task. */
export interface QueueCursor {
  readonly status: coordination.QueueStatus;
  readonly place?: ListCursor | undefined;
}

interface QueuePage {
  readonly tasks: readonly coordination.Task[];
  readonly truncated: boolean;
  readonly next?: QueueCursor;
}

const NO_TASKS: QueuePage = { tasks: [], truncated: false };
const NO_SIZE = { blocked: 0, oldestTask: undefined };

type QueueState = Awaited<ReturnType<typeof stateOf>>;

export class TaskOverview extends Service<SystemPorts & { readonly liveness: Pick<AgentLiveness, 'requireActable'> }> {
  private readonly pages = new MemoCache<QueuePage>();
  private readonly sizes = new MemoCache<Awaited<ReturnType<typeof sizeOf>>>();

  /** Returns open tasks, claimable ones first, and counts of the queue. @throws MusterError NOT_FOUND for the agent */
  async list(principal: Principal, request: TaskQueueRequest) {
    const state = await stateOf(this.ports, request.workspace);
    const [page, stats] = await Promise.all([this.page(principal, request, state), this.statsOf(state)]);
    return { page, stats };
  }

  /** Returns the number of open tasks of a workspace. */
  async stats(workspace: string) {
    return { total: (await stateOf(this.ports, workspace))?.counters.open ?? 0 };
  }

  private async page(principal: Principal, request: TaskQueueRequest, state: QueueState): Promise<QueuePage> {
    if (request.agentId !== undefined) return this.listOf(principal, request.agentId, request);
    if (state === undefined) return NO_TASKS;
    const { session, stamp } = state;
    return this.pages.read(JSON.stringify([session, request]), stamp, () => this.listAll(state, request));
  }

  /** Returns counts of open tasks, and the average time from creation to first claim. */
  private async statsOf(state: QueueState) {
    const { counts, waits, open: total } = state?.counters ?? coordination.sumCounters([]);
    const extent = state ? await this.sizes.read(state.session, state.stamp, () => sizeOf(this.ports, state)) : NO_SIZE;
    return {
      total,
      // If a task becomes blocked between the two reads, the difference can be negative.
      pending: Math.max(0, counts.available - extent.blocked),
      assigned: counts.claimed,
      inProgress: counts.in_progress + counts.waiting,
      averageWaitMilliseconds: waits.tasks > 0 ? waits.milliseconds / waits.tasks : undefined,
      ...extent,
    };
  }

  private async listAll({ session, counters }: NonNullable<QueueState>, request: TaskQueueRequest): Promise<QueuePage> {
    const { priority, type, limit, after } = request;
    const tasks: coordination.Task[] = [];
    const states = statesOf(request);
    for (const status of states.slice(after ? states.indexOf(after.status) : 0)) {
      if (status === 'blocked' && counters.mostBlocked === 0) continue;
      const isFull = tasks.length === limit || !fitsPage(tasks, coordination.MAX_STATE_SHARE);
      if (isFull) return { tasks, truncated: true, next: { status } };
      const { items, next } = await this.ports.queue.list(
        session,
        status,
        { priorities: priority && coordination.PRIORITY_RANGES[priority], type, hasDeadlines: counters.mostLate !== 0 },
        { limit: limit - tasks.length, after: status === after?.status ? after.place : undefined },
      );
      tasks.push(...items);
      if (next !== undefined) return { tasks, truncated: true, next: { status, place: next } };
    }
    return { tasks, truncated: false };
  }

  /** Returns the tasks that an agent holds or, if pending tasks are requested, those that it can claim next. */
  private async listOf(principal: Principal, name: string, request: TaskQueueRequest): Promise<QueuePage> {
    const { sessions, tasks } = this.ports;
    const [agent, open] = await Promise.all([
      this.visible(principal, request.workspace, name),
      sessions.current(request.workspace),
    ]);
    if (agent === undefined) throw coordination.agentNotFound(name, 'agentId');
    if (open === undefined || request.status === 'blocked') return NO_TASKS;
    const { session } = open;
    if (request.status === 'pending') {
      const names = agent.capability_details.map(({ name }) => name);
      const keys = coordination.claimableKeys(session, names);
      const claimable = await tasks.claimable(session.id, keys, MAX_OWN_TASKS, request);
      const values = claimable.map(({ value }) => value);
      return firstOf(values, request);
    }
    const held = Object.entries(agent.held).filter(([, task]) => task.session === session.id);
    const ids = held.map(([taskId]) => taskId).sort();
    const found = await tasks.findAll(ids.slice(0, MAX_OWN_TASKS));
    const own = found.flatMap((task) => (task?.value.claim?.claimed_by === agent.id ? [task.value] : []));
    const page = firstOf(own.sort(coordination.compareInQueue), request);
    return { ...page, truncated: page.truncated || ids.length > MAX_OWN_TASKS };
  }

  /** Returns the caller's agent with this name, or else the agent with this name in the workspace. */
  private async visible(principal: Principal, workspace: string, name: string): Promise<Agent | undefined> {
    const { agents, liveness } = this.ports;
    const own = await liveness.requireActable(principal, workspace, name);
    const found = (own ?? (await readFor(principal.owner_uid, agents.find(name))))?.value;
    return own !== undefined || (found !== undefined && isIn(found, workspace)) ? found : undefined;
  }
}

/** Returns the open session and its counters. `stamp` changes when cached counts of the queue are outdated. */
async function stateOf({ sessions, store, clock }: SystemPorts, workspace: string) {
  const open = await sessions.current(workspace);
  if (open === undefined) return undefined;
  const session = open.session.id;
  const counters = await sessions.counters(workspace, session);
  const window = Math.floor(clock.now().getTime() / CACHE_TTL_MS);
  const stamp = [open.sessionVersion, counters.stamp, store.committed('replaceTask'), window].join(' ');
  return { session, counters, stamp };
}

async function sizeOf({ queue }: SystemPorts, { session, counters }: NonNullable<QueueState>) {
  const [blocked, oldestTask] = await Promise.all([
    counters.mostBlocked !== 0 ? queue.count(session, 'blocked') : 0,
    queue.oldest(session),
  ]);
  return { blocked, oldestTask };
}

function statesOf({ status, includeAssigned }: TaskQueueRequest): readonly coordination.QueueStatus[] {
  if (status !== undefined) return [status];
  return includeAssigned ? ['pending', 'blocked', 'assigned', 'in_progress'] : ['pending', 'blocked'];
}

function firstOf(tasks: readonly coordination.Task[], request: TaskQueueRequest): QueuePage {
  const { priority, status, type, limit } = request;
  const range = priority && coordination.PRIORITY_RANGES[priority];
  const matching = tasks.filter(
    (task) =>
      (status === undefined || queueStatus(task) === status) &&
      (type === undefined || coordination.taskType(task) === type) &&
      (range === undefined || (task.priority >= range.from && task.priority <= range.to)),
  );
  return { tasks: matching.slice(0, limit), truncated: matching.length > limit };
}

export function queueStatus({ status, blockers }: coordination.Task): coordination.QueueStatus {
  if (status === 'available') return blockers > 0 ? 'blocked' : 'pending';
  return status === 'claimed' ? 'assigned' : 'in_progress';
}
