/** A workspace's goal, plan, progress and discoveries. Source: spec/coordination.md; docs/semantics.md#coordination. */

import { type Opener, openingChanges } from '../../../access/rules/workspaces.ts';
import type { Change, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import { readIn, Service } from '../../../kernel/ports.ts';
import type { SweepPart, SweepTurn, Swept } from '../../../kernel/sweep.ts';
import { retryStale, unlessStale } from '../../../kernel/waiting.ts';
import {
  type ArchivedSession,
  CODING_GOAL,
  type CoordinationPorts,
  type Discovery,
  newSession,
  type OpenSession,
  openingOf,
  openSession,
  type Session,
  sumCounters,
} from './session.ts';
import { cancelTask } from './stateMachine.ts';
import { outcomeChanges, type Task, type TaskStatus, taskNotFound } from './task.ts';

/** How many late tasks a status names. */
const LATE_NAMED = 10;

/** How the ids of all tasks of all runs begin, and of no others. */
const TASKS_OF_RUNS = 'run-';

/** How many tasks of an archived session are cancelled side by side, each in a commit of its own. */
const ABREAST = 20;

/** How often one clearing reads on; the next sweep does the rest. */
const MAX_ROUNDS = 5;

/** How many archived sessions one sweep clears. */
const MAX_SESSIONS = 50;

export interface Initialised {
  readonly session: Session;
  /** The session that had to make room for the new goal. */
  readonly archived?: Session;
}

export type CoordinationStatus = Awaited<ReturnType<CoordinationService['status']>>;

export class CoordinationService extends Service<CoordinationPorts> {
  /**
   * Nobody can claim the tasks of an archived session any more, so those that runs wait for are cancelled, and the runs
   * hear of it as of any task that is closed. The archived session says until then that it is not cleared, so that the
   * sweep finishes what an instance has left that died.
   */
  readonly archivesPart: SweepPart = { name: 'archives', run: (turn) => this.sweepArchives(turn) };

  /**
   * Gives the workspace a goal. The same goal again changes nothing but the plan, where one is given;
   * another goal archives the old session with its tasks, and cancels those that runs wait for.
   * @param opener as openingChanges has it
   */
  async initialise(
    workspace: string,
    goal: string,
    masterPlan: string | undefined,
    recordAnswer: RecordAnswer<Initialised>,
    opener?: Opener,
  ): Promise<Initialised> {
    const { sessions, store, clock, randomness } = this.ports;
    const initialised = await retryStale(randomness, async (): Promise<Initialised> => {
      const now = clock.now();
      const { open, vacant } = await sessions.opening(workspace);
      const isThere = open !== undefined || vacant !== undefined;
      const opening = await openingChanges(this.ports, opener, workspace, isThere, now);
      const known = open?.session;
      const isKept = known !== undefined && [goal, '', CODING_GOAL].includes(known.goal);
      const session = isKept
        ? { ...known, goal, masterPlan: masterPlan ?? known.masterPlan }
        : newSession(randomness, workspace, goal, masterPlan ?? '', now);
      const outcome = { session, ...(known && !isKept && { archived: known }) };
      const changes =
        open === undefined ? [openingOf(session, vacant), ...opening] : sessionChanges(open, session, now);
      await store.commit(changes, recordAnswer(outcome));
      return outcome;
    });
    if (initialised.archived !== undefined) await this.clear(initialised.archived);
    return initialised;
  }

  async session(workspace: string): Promise<Session | undefined> {
    return (await this.ports.sessions.current(workspace))?.session;
  }

  /**
   * Progress from counters, how many of the available tasks cannot be claimed yet, and what is past its deadline, of
   * which a few are named that were due first: the same few documents however many tasks there are.
   */
  async status(workspace: string) {
    const { sessions, queue, directory } = this.ports;
    const [session, agents] = await Promise.all([this.session(workspace), directory.counts(workspace)]);
    if (session === undefined)
      return { session, agents, counters: sumCounters([]), blocked: 0, late: { count: 0, first: [] } };
    const [counters, blocked, late] = await Promise.all([
      sessions.counters(workspace, session.id),
      queue.count(session.id, 'blocked'),
      this.late(session.id),
    ]);
    return { session, agents, counters, blocked, late };
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

  /** @throws MusterError NOT_FOUND for the first that does not exist in the workspace */
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
    request: Pick<Discovery, 'workspace' | 'agentId' | 'content' | 'tags'>,
    recordAnswer: RecordAnswer<Discovery>,
    opener?: Opener,
  ): Promise<Discovery> {
    const { store, clock, randomness } = this.ports;
    const { workspace } = request;
    const id = randomness.uuid();
    return retryStale(randomness, async () => {
      const now = clock.now();
      const { session, opened } = await openSession(this.ports, workspace, now, opener);
      const discovery = { ...request, id, session: session.id, createdAt: now };
      const counted: Change = {
        kind: 'count',
        workspace,
        session: session.id,
        by: { discoveries: 1 },
        at: now,
      };
      const changes: Change[] = [
        ...(opened?.(session) ?? []),
        { kind: 'createDiscovery', discovery },
        counted,
      ];
      await store.commit(changes, recordAnswer(discovery));
      return discovery;
    });
  }

  /** Clears what archiving has left behind. */
  private async sweepArchives(turn: SweepTurn): Promise<Swept> {
    const uncleared = await this.ports.sessions.uncleared(MAX_SESSIONS);
    let cleared = 0;
    for (const session of uncleared) {
      if (turn.isOver()) break;
      if (await this.clear(session)) cleared++;
    }
    const isBehind = cleared < uncleared.length || uncleared.length === MAX_SESSIONS;
    return { counts: { cleared }, isBehind };
  }

  /** Cancels what runs wait for. Where that is not done in a moment, the next sweep goes on. Tells whether it is done. */
  private async clear({ workspace, id }: ArchivedSession): Promise<boolean> {
    const { tasks, store, log } = this.ports;
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const open = await tasks.openStartingWith(id, TASKS_OF_RUNS, ABREAST);
        await Promise.all(open.map((task) => this.cancel(task)));
        if (open.length > 0) continue;
        await store.commit([{ kind: 'sessionCleared', session: { workspace, id } }]);
        return true;
      }
    } catch (error) {
      log.error('archive_not_cleared', { session: id, error });
    }
    return false;
  }

  /** Cancels the task for its holder, too; or leaves it to the next round where somebody else has just changed it. */
  private async cancel({ value: before, version }: Versioned<Task>): Promise<void> {
    const { store, clock } = this.ports;
    const now = clock.now();
    const task = cancelTask(before, 'The session that it belonged to was archived.', now);
    await unlessStale(store.commit(outcomeChanges(before, { kind: 'accepted', task }, version, now)));
  }
}

/** Makes `session` the open one: the same with a new goal or plan, or another in its place. */
function sessionChanges(open: OpenSession, session: Session, now: Date): Change[] {
  const { session: known, sessionVersion: version, workspaceVersion: replaces } = open;
  if (known.id !== session.id) {
    return [{ kind: 'archiveSession', session: known, at: now }, openingOf(session, replaces)];
  }
  const isUnchanged = known.goal === session.goal && known.masterPlan === session.masterPlan;
  return isUnchanged ? [] : [{ kind: 'describeSession', session, before: known, version }];
}
