/** A workspace's goal, plan, progress and discoveries. Source: spec/coordination.md; docs/semantics.md#coordination. */

import type { MemberCount } from '../../../access/rules/agent.ts';
import type { Change, RecordAnswer } from '../../../kernel/commit.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import {
  type ArchiveClearing,
  CODING_GOAL,
  type CoordinationPorts,
  type Discovery,
  newSession,
  openSession,
  type Session,
  type SessionCounters,
} from './session.ts';
import { type Task, type TaskStatus, taskNotFound } from './task.ts';

export interface Initialised {
  readonly session: Session;
  /** The session that had to make room for the new goal. */
  readonly archived?: Session;
}

export interface CoordinationStatus {
  readonly session?: Session;
  readonly counters: SessionCounters;
  /** How many of the available tasks cannot be claimed yet. */
  readonly blocked: number;
  readonly members: MemberCount;
  readonly late: LateTasks;
}

/** Tasks that are not closed and past their deadline. */
interface LateTasks {
  readonly count: number;
  /** Those that were due first, a few of them. */
  readonly first: readonly Task[];
}

/** How many late tasks a status names. */
const LATE_NAMED = 10;

const NOTHING_LATE: LateTasks = { count: 0, first: [] };

interface NewDiscovery {
  readonly workspace: string;
  readonly agentId: string;
  readonly content: string;
  readonly tags: readonly string[];
}

const NOTHING_LISTED = { items: [], more: false };

const NOTHING_COUNTED: SessionCounters = {
  counts: {
    available: 0,
    claimed: 0,
    in_progress: 0,
    waiting: 0,
    done: 0,
    failed: 0,
    cancelled: 0,
    discoveries: 0,
  },
  waits: { tasks: 0, milliseconds: 0 },
  stamp: '',
};

export class CoordinationService extends Service<CoordinationPorts> {
  private readonly clearing: ArchiveClearing;

  constructor(ports: CoordinationPorts, clearing: ArchiveClearing) {
    super(ports);
    this.clearing = clearing;
  }

  /**
   * Gives the workspace a goal. The same goal again changes nothing but the plan, where one is given;
   * another goal archives the old session with its tasks, and cancels those that runs wait for.
   */
  async initialise(
    workspace: string,
    goal: string,
    masterPlan: string | undefined,
    recordAnswer: RecordAnswer<Initialised>,
  ): Promise<Initialised> {
    const initialised = await this.open(workspace, goal, masterPlan, recordAnswer);
    if (initialised.archived !== undefined) await this.clearing.clear(initialised.archived);
    return initialised;
  }

  private open(
    workspace: string,
    goal: string,
    masterPlan: string | undefined,
    recordAnswer: RecordAnswer<Initialised>,
  ): Promise<Initialised> {
    const { sessions, store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const now = clock.now();
      const open = await sessions.current(workspace);
      if (open !== undefined && [goal, '', CODING_GOAL].includes(open.session.goal)) {
        const session = { ...open.session, goal, masterPlan: masterPlan ?? open.session.masterPlan };
        const unchanged = open.session.goal === goal && session.masterPlan === open.session.masterPlan;
        const changes: Change[] = unchanged
          ? []
          : [{ kind: 'describeSession', session, version: open.sessionVersion }];
        await store.commit(changes, recordAnswer({ session }));
        return { session };
      }
      const session = newSession(randomness, workspace, goal, masterPlan ?? '', now);
      const initialised = { session, ...(open && { archived: open.session }) };
      const changes: Change[] = open
        ? [
            { kind: 'archiveSession', session: open.session, at: now },
            { kind: 'openSession', session, replaces: open.workspaceVersion },
          ]
        : [{ kind: 'openSession', session }];
      await store.commit(changes, recordAnswer(initialised));
      return initialised;
    });
  }

  async session(workspace: string): Promise<Session | undefined> {
    return (await this.ports.sessions.current(workspace))?.session;
  }

  /** Progress from counters, and what is late: the same few documents however many tasks there are. */
  async status(workspace: string): Promise<CoordinationStatus> {
    const [session, members] = await Promise.all([
      this.session(workspace),
      this.ports.sessions.members(workspace),
    ]);
    if (session === undefined) {
      return { counters: NOTHING_COUNTED, blocked: 0, members, late: NOTHING_LATE };
    }
    const [counters, blocked, late] = await Promise.all([
      this.ports.sessions.counters(workspace, session.id),
      this.ports.queue.countBlocked(session.id),
      this.late(session.id),
    ]);
    return { session, members, counters, blocked, late };
  }

  private async late(session: string): Promise<LateTasks> {
    const { tasks, clock } = this.ports;
    const now = clock.now();
    const first = await tasks.late(session, now, LATE_NAMED);
    const count = first.length < LATE_NAMED ? first.length : await tasks.countLate(session, now);
    return { count, first };
  }

  async listTasks(
    workspace: string,
    statuses: readonly TaskStatus[] | undefined,
    page: Page,
  ): Promise<Slice<Task>> {
    const session = await this.session(workspace);
    return session ? this.ports.tasks.list(session.id, statuses, page) : NOTHING_LISTED;
  }

  async listDone(workspace: string, page: Page): Promise<Slice<Task>> {
    const session = await this.session(workspace);
    return session ? this.ports.tasks.listDone(session.id, page) : NOTHING_LISTED;
  }

  /** @throws MusterError NOT_FOUND for the first that does not exist in the workspace */
  async namedTasks(workspace: string, taskIds: readonly string[]): Promise<readonly Task[]> {
    const { tasks } = this.ports;
    const found = await tasks.findAll(taskIds);
    return Promise.all(
      taskIds.map(async (taskId, index) => {
        const task = (found[index] ?? (await tasks.find(taskId)))?.value;
        if (task?.workspace !== workspace) throw taskNotFound(taskId);
        return task;
      }),
    );
  }

  addDiscovery(request: NewDiscovery, recordAnswer: RecordAnswer<Discovery>): Promise<Discovery> {
    const { store, clock, randomness } = this.ports;
    const id = randomness.uuid();
    return retryStale(randomness, async () => {
      const now = clock.now();
      const { session, isNew } = await openSession(this.ports, request.workspace, now);
      const discovery = { ...request, id, session: session.id, createdAt: now };
      const { workspace } = request;
      const opened: Change[] = isNew ? [{ kind: 'openSession', session }] : [];
      const counted: Change = {
        kind: 'count',
        workspace,
        session: session.id,
        by: { discoveries: 1 },
        at: now,
      };
      await store.commit(
        [...opened, { kind: 'createDiscovery', discovery }, counted],
        recordAnswer(discovery),
      );
      return discovery;
    });
  }

  async listDiscoveries(
    workspace: string,
    tags: readonly string[] | undefined,
    page: Page,
  ): Promise<Slice<Discovery>> {
    const session = await this.session(workspace);
    return session ? this.ports.discoveries.list(session.id, tags, page) : NOTHING_LISTED;
  }
}
