/** Goal, plan, status and findings. Source: the coordination specification; docs/semantics.md#coordination. */

import { type Opener, openingChanges } from '../../../access/rules/workspaces.ts';
import type { RecordAnswer } from '../../../kernel/commit.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import { readIn, Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { archivingOf, SessionArchives, type SessionExtent } from './archives.ts';
import { newSession, openingOf, openSession } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { CODING_GOAL, type Discovery, type OpenSession, type Session, sumCounters } from './session.ts';
import { type Task, type TaskStatus, taskNotFound } from './task.ts';

/** Number of late tasks in a status, and number of stuck tasks. */
const LATE_NAMED = 10;
const STUCK_NAMED = 5;

const NO_TASKS = { count: 0, first: [] as readonly Task[] };

export interface Initialised {
  readonly session: Session;
  readonly archived?: SessionExtent;
}

export type CoordinationStatus = Awaited<ReturnType<CoordinationService['status']>>;

export class CoordinationService extends Service<CoordinationPorts> {
  readonly archives = new SessionArchives(this.ports);

  /**
   * Sets the workspace's goal. The same goal only updates the plan, if one is set. A new goal archives the session
   * with its tasks, and cancels tasks that runs wait for.
   * @param opener as in `openingChanges`
   */
  async initialise(
    workspace: string,
    { goal, masterPlan }: { readonly goal: string; readonly masterPlan?: string | undefined },
    recordAnswer: RecordAnswer<Initialised>,
    opener?: Opener,
  ): Promise<Initialised> {
    const { sessions, store, clock, randomness } = this.ports;
    const initialised = await retryStale(randomness, async (): Promise<Initialised> => {
      const now = clock.now();
      const { open, vacant } = await sessions.opening(workspace);
      const isThere = open !== undefined || vacant !== undefined;
      const opening = await openingChanges(this.ports, opener, { name: workspace, isThere }, now);
      const known = open?.session;
      const isKept = known !== undefined && [goal, '', CODING_GOAL].includes(known.goal);
      const session = isKept
        ? { ...known, goal, master_plan: masterPlan ?? known.master_plan }
        : newSession(randomness, { workspace, goal, masterPlan }, now);
      const outcome = { session, ...(known && !isKept && { archived: await this.archives.extentOf(known) }) };
      const changes =
        open === undefined ? [openingOf(session, vacant), ...opening] : sessionChanges(open, session, now);
      await store.commit(changes, recordAnswer(outcome));
      return outcome;
    });
    if (initialised.archived !== undefined) await this.archives.clear(initialised.archived.session);
    return initialised;
  }

  async session(workspace: string): Promise<Session | undefined> {
    return (await this.ports.sessions.current(workspace))?.session;
  }

  /** Returns progress and the first late and stuck tasks. The number of reads does not depend on that of tasks. */
  async status(workspace: string) {
    const { sessions, queue, directory } = this.ports;
    const [session, agents] = await Promise.all([this.session(workspace), directory.counts(workspace)]);
    if (session === undefined)
      return { session, agents, counters: sumCounters([]), blocked: 0, late: NO_TASKS, stuck: NO_TASKS };
    const [counters, blocked, late] = await Promise.all([
      sessions.counters(workspace, session.id),
      queue.count(session.id, 'blocked'),
      this.late(session.id),
    ]);
    const { failed, cancelled } = counters.counts;
    // Without a failed or cancelled task, no task can be stuck.
    const stuck = blocked > 0 && failed + cancelled > 0 ? await this.stuck(session.id) : NO_TASKS;
    return { session, agents, counters, blocked, late, stuck };
  }

  private async stuck(session: string) {
    const { tasks } = this.ports;
    const { items: first, more } = await tasks.listStuck(session, { limit: STUCK_NAMED });
    return { count: more ? await tasks.countStuck(session) : first.length, first };
  }

  private async late(session: string) {
    const { tasks, clock } = this.ports;
    const now = clock.now();
    const first = await tasks.late(session, now, LATE_NAMED);
    const count = first.length < LATE_NAMED ? first.length : await tasks.countLate(session, now);
    return { count, first };
  }

  listTasks(workspace: string, statuses: readonly TaskStatus[] | undefined, page: Page) {
    return this.listed(workspace, (session) => this.ports.tasks.list(session, statuses, page));
  }

  listStuck(workspace: string, page: Page) {
    return this.listed(workspace, (session) => this.ports.tasks.listStuck(session, page));
  }

  listDone(workspace: string, page: Page) {
    return this.listed(workspace, (session) => this.ports.tasks.listDone(session, page));
  }

  listDiscoveries(workspace: string, tags: readonly string[] | undefined, page: Page) {
    return this.listed(workspace, (session) => this.ports.sessions.discoveries(session, tags, page));
  }

  private async listed<Item>(
    workspace: string,
    list: (session: string) => Promise<Slice<Item>>,
  ): Promise<Slice<Item>> {
    const session = await this.session(workspace);
    return session ? list(session.id) : { items: [], more: false };
  }

  /** @throws MusterError NOT_FOUND if a task does not exist in the workspace */
  async namedTasks(workspace: string, taskIds: readonly string[]): Promise<readonly Task[]> {
    const { tasks } = this.ports;
    const found = await tasks.findAll(taskIds);
    return Promise.all(
      taskIds.map(async (taskId, index) => {
        const read = () => readIn((one) => one === workspace, tasks.find(taskId));
        const task = (found[index] ?? (await read()))?.value;
        if (task?.workspace !== workspace) throw taskNotFound(taskId);
        return task;
      }),
    );
  }

  addDiscovery(
    request: Pick<Discovery, 'workspace' | 'agent_id' | 'content' | 'tags'>,
    recordAnswer: RecordAnswer<Discovery>,
    opener?: Opener,
  ): Promise<Discovery> {
    const { store, clock, randomness } = this.ports;
    const { workspace } = request;
    const id = randomness.uuid();
    return retryStale(randomness, async () => {
      const now = clock.now();
      const { session, opened } = await openSession(this.ports, workspace, now, { opener });
      const discovery = { ...request, id, session: session.id, created_at: now };
      const counted: CoordinationChange = {
        kind: 'count',
        workspace,
        session: session.id,
        by: { discoveries: 1 },
        at: now,
      };
      const changes: CoordinationChange[] = [
        ...(opened?.(session) ?? []),
        { kind: 'createDiscovery', discovery },
        counted,
      ];
      await store.commit(changes, recordAnswer(discovery));
      return discovery;
    });
  }
}

function sessionChanges(open: OpenSession, session: Session, now: Date): CoordinationChange[] {
  const { session: known, sessionVersion: version, workspaceVersion: replaces } = open;
  if (known.id !== session.id) {
    return [archivingOf(open, now), openingOf(session, replaces)];
  }
  const isUnchanged = known.goal === session.goal && known.master_plan === session.master_plan;
  return isUnchanged ? [] : [{ kind: 'describeSession', session, before: known, version }];
}
