/** Goal, plan and status of a session, and shared findings. Source: the coordination specification. */
import { createWorkspaceChanges, type WorkspaceCreator } from '../../../access/rules/workspaces.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import { readUnreadable, Service } from '../../../kernel/ports.ts';
import { archivingOf, SessionArchives, type SessionSize } from './archives.ts';
import { newSession, openingOf, openSession } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { CODING_GOAL, type Discovery, type OpenSession, type Session, sumCounters } from './session.ts';
import { type Task, type TaskStatus, taskNotFound } from './task.ts';

const MAX_LATE_NAMED = 10;
const MAX_STUCK_NAMED = 5;
const MAX_VERIFYING_NAMED = 5;
const NO_TASKS = { count: 0, first: [] as readonly Task[] };
const NO_NAMED = { late: NO_TASKS, stuck: NO_TASKS, verifying: NO_TASKS };

export interface InitializedSession {
  readonly session: Session;
  readonly archived?: SessionSize;
}

export type CoordinationStatus = Awaited<ReturnType<CoordinationService['status']>>;

export class CoordinationService extends Service<CoordinationPorts> {
  readonly archives = new SessionArchives(this.ports);

  /**
   * Sets the workspace's goal. If the goal is unchanged and a plan is given, only the plan is replaced. A new goal
   * archives the session with its tasks, and cancels the archived tasks that runs wait for.
   * @param opener see `createWorkspaceChanges`
   */
  async initialize(
    workspace: string,
    { goal, masterPlan }: { readonly goal: string; readonly masterPlan?: string | undefined },
    recordResponse: RecordResponse<InitializedSession>,
    opener?: WorkspaceCreator,
  ): Promise<InitializedSession> {
    const { sessions, store, clock, randomness } = this.ports;
    const initialized = await retryOnConflict(randomness, async (): Promise<InitializedSession> => {
      const now = clock.now();
      const { open, vacant } = await sessions.opening(workspace);
      const isThere = open !== undefined || vacant !== undefined;
      const opening = await createWorkspaceChanges(this.ports, opener, { name: workspace, isThere }, now);
      const known = open?.session;
      const isKept = known !== undefined && [goal, '', CODING_GOAL].includes(known.goal);
      const session = isKept
        ? { ...known, goal, master_plan: masterPlan ?? known.master_plan }
        : newSession(randomness, { workspace, goal, master_plan: masterPlan ?? '' }, now);
      const outcome = { session, ...(known && !isKept && { archived: await this.archives.sizeOf(known) }) };
      const changes =
        open === undefined ? [openingOf(session, vacant), ...opening] : sessionChanges(open, session, now);
      await store.commit(changes, recordResponse(outcome));
      return outcome;
    });
    if (initialized.archived !== undefined) await this.archives.clear(initialized.archived.session);
    return initialized;
  }

  async session(workspace: string): Promise<Session | undefined> {
    return (await this.ports.sessions.current(workspace))?.session;
  }

  /** Returns progress and the first late and stuck tasks. The number of reads is the same for any number of tasks. */
  async status(workspace: string) {
    const { sessions, queue, directory } = this.ports;
    const [session, agents] = await Promise.all([this.session(workspace), directory.counts(workspace)]);
    if (session === undefined) return { session, agents, counters: sumCounters([]), blocked: 0, ...NO_NAMED };
    const counters = await sessions.counters(workspace, session.id);
    const [blocked, late, verifying] = await Promise.all([
      counters.mostBlocked !== 0 ? queue.count(session.id, 'blocked') : 0,
      counters.mostLate !== 0 ? this.late(session.id) : NO_TASKS,
      counters.counts.waiting > 0 ? this.verifying(session.id) : NO_TASKS,
    ]);
    const { failed, cancelled } = counters.counts;
    // A task can be stuck only if another task failed or was cancelled.
    const stuck = blocked > 0 && failed + cancelled > 0 ? await this.stuck(session.id) : NO_TASKS;
    return { session, agents, counters, blocked, late, stuck, verifying };
  }

  private async verifying(session: string) {
    const { tasks } = this.ports;
    const first = await tasks.verifying(session, MAX_VERIFYING_NAMED);
    const count = first.length < MAX_VERIFYING_NAMED ? first.length : await tasks.countVerifying(session);
    return { count, first };
  }

  private async stuck(session: string) {
    const { tasks } = this.ports;
    const { items: first, more } = await tasks.listStuck(session, { limit: MAX_STUCK_NAMED });
    return { count: more ? await tasks.countStuck(session) : first.length, first };
  }

  private async late(session: string) {
    const { tasks, clock } = this.ports;
    const now = clock.now();
    const first = await tasks.late(session, now, MAX_LATE_NAMED);
    const count = first.length < MAX_LATE_NAMED ? first.length : await tasks.countLate(session, now);
    return { count, first };
  }

  listTasks(workspace: string, statuses: readonly TaskStatus[] | undefined, page: PageRequest) {
    return this.listed(workspace, (session) => this.ports.tasks.list(session, statuses, page));
  }

  listStuck(workspace: string, page: PageRequest) {
    return this.listed(workspace, (session) => this.ports.tasks.listStuck(session, page));
  }

  listDone(workspace: string, page: PageRequest) {
    return this.listed(workspace, (session) => this.ports.tasks.listDone(session, page));
  }

  listDiscoveries(workspace: string, tags: readonly string[] | undefined, page: PageRequest) {
    return this.listed(workspace, (session) => this.ports.sessions.discoveries(session, tags, page));
  }

  private async listed<Item>(
    workspace: string,
    list: (session: string) => Promise<ListPage<Item>>,
  ): Promise<ListPage<Item>> {
    const session = await this.session(workspace);
    return session ? list(session.id) : { items: [], more: false };
  }

  /** @throws MusterError NOT_FOUND if a task does not exist in the workspace */
  async namedTasks(workspace: string, taskIds: readonly string[]): Promise<readonly Task[]> {
    const { tasks } = this.ports;
    const found = await tasks.findAll(taskIds);
    return Promise.all(
      taskIds.map(async (taskId, index) => {
        const read = () => readUnreadable((one) => one === workspace, tasks.find(taskId));
        const task = (found[index] ?? (await read()))?.value;
        if (task?.workspace !== workspace) throw taskNotFound(taskId);
        return task;
      }),
    );
  }

  addDiscovery(
    request: Pick<Discovery, 'workspace' | 'agent_id' | 'content' | 'tags'>,
    recordResponse: RecordResponse<Discovery>,
    opener?: WorkspaceCreator,
  ): Promise<Discovery> {
    const { store, clock, randomness } = this.ports;
    const { workspace } = request;
    const id = randomness.uuid();
    return retryOnConflict(randomness, async () => {
      const now = clock.now();
      const { session, opened } = await openSession(this.ports, workspace, now, { opener });
      const discovery = { ...request, id, session: session.id, created_at: now };
      const created = { kind: 'createDiscovery', discovery } as const;
      const counted = { kind: 'count', workspace, session: session.id, by: { discoveries: 1 }, at: now } as const;
      await store.commit([...(opened?.(session) ?? []), created, counted], recordResponse(discovery));
      return discovery;
    });
  }
}

function sessionChanges(open: OpenSession, session: Session, now: Date): CoordinationChange[] {
  const { session: known, sessionVersion: version, workspaceVersion: replaces } = open;
  if (known.id !== session.id) return [archivingOf(open, now), openingOf(session, replaces)];
  const isUnchanged = known.goal === session.goal && known.master_plan === session.master_plan;
  return isUnchanged ? [] : [{ kind: 'describeSession', session, before: known, version }];
}
