/** Sessions of a workspace: what one is, how it is opened, and what archiving does to its tasks. */
import type { AccessPorts } from '../../../access/rules/principal.ts';
import type { Change, Versioned } from '../../../kernel/commit.ts';
import { type Randomness, Service } from '../../../kernel/ports.ts';
import type { SweepPart, SweepTurn, Swept } from '../../../kernel/sweep.ts';
import { unlessStale } from '../../../kernel/waiting.ts';
import type { discoveryFromDocument, sessionFromDocument } from '../store/documents.ts';
import type { QueueReader } from '../store/queue.ts';
import type { ArchiveReader, DiscoveryReader, SessionReader } from '../store/sessions.ts';
import type { TaskReader } from '../store/tasks.ts';
import { cancelTask } from './machine.ts';
import { outcomeChanges, type Task, type TaskStatus } from './task.ts';

export type Session = ReturnType<typeof sessionFromDocument>;

export type Discovery = ReturnType<typeof discoveryFromDocument>;

/** The goal of a session that a coding task has opened, until init_coordination gives it one of its own. */
export const CODING_GOAL = 'Coding';

/** What is counted in a session, so that a status never reads the tasks. */
export type Counter = TaskStatus | 'discoveries';

/** What commits may change of sessions and what is in them beside tasks. */
export interface SessionChanges {
  /** Makes a session its workspace's own; `replaces` is the workspace's version, where it has one. */
  readonly openSession: { readonly session: Session; readonly replaces?: string };
  readonly describeSession: { readonly session: Session; readonly version: string };
  /** Takes a session out of service; commits that expect it to be open fail from then on. */
  readonly archiveSession: { readonly session: Session; readonly at: Date };
  /** No run waits any more for a task of an archived session. */
  readonly sessionCleared: { readonly session: Pick<Session, 'workspace' | 'id'> };
  /** More can be claimed than before. Refused as stale where the session is no longer open. */
  readonly queueGrew: {
    readonly workspace: string;
    readonly session: string;
    readonly capabilityKeys: readonly string[];
  };
  readonly count: {
    readonly workspace: string;
    readonly session: string;
    readonly by: Partial<Readonly<Record<Counter, number>>>;
    readonly at: Date;
    /** Milliseconds that a task waited until its first claim, where this counts one. */
    readonly waited?: number;
  };
  readonly createDiscovery: { readonly discovery: Discovery };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends SessionChanges {}
}

/** How the ids of all tasks of all runs begin, and of no others. */
const TASKS_OF_RUNS = 'run-';

export interface SessionCounters {
  readonly counts: Readonly<Record<Counter, number>>;
  readonly lastActivity?: Date;
  /** Another one after each change of what is counted. */
  readonly stamp: string;
  /** The tasks that were claimed a first time, and how long they had waited for it in all. */
  readonly waits: { readonly tasks: number; readonly milliseconds: number };
}

/** The name of a session that another goal has replaced. */
export type ArchivedSession = Pick<Session, 'workspace' | 'id'>;

/** What sessions and the queue of tasks are read by. */
export interface CoordinationPorts extends AccessPorts {
  readonly tasks: TaskReader;
  readonly queue: QueueReader;
  readonly sessions: SessionReader;
  readonly archive: ArchiveReader;
  readonly discoveries: DiscoveryReader;
}

/** A session to put something into. A new one is not stored yet: the commit that fills it opens it. */
export interface SessionOpening {
  readonly session: Session;
  readonly isNew: boolean;
}

/** The workspace's open session, or a new one without a goal: tasks may come before init_coordination. */
export async function openSession(
  { sessions, randomness }: CoordinationPorts,
  workspace: string,
  now: Date,
  goal = '',
): Promise<SessionOpening> {
  const open = await sessions.current(workspace);
  if (open !== undefined) return { session: open.session, isNew: false };
  return { session: newSession(randomness, workspace, goal, '', now), isNew: true };
}

/** Tells claims that more can be claimed than before, unless the session is archived. */
export async function queueGrowth(
  sessions: SessionReader,
  { workspace, session }: Pick<Task, 'workspace' | 'session'>,
): Promise<Change[]> {
  const open = await sessions.current(workspace);
  return open?.session.id === session ? [{ kind: 'queueGrew', workspace, session, capabilityKeys: [] }] : [];
}

export function newSession(
  randomness: Randomness,
  workspace: string,
  goal: string,
  masterPlan: string,
  now: Date,
): Session {
  const id = `session-${randomness.letters(12)}`;
  return { id, workspace, goal, masterPlan, createdAt: now, queueVersion: 0, capabilityKeys: [] };
}

/** How many tasks are cancelled side by side, each in a commit of its own. */
const ABREAST = 20;

/** How often one clearing looks for more; the next sweep goes on. */
const MAX_ROUNDS = 5;

/** How many sessions one sweep clears. */
const MAX_SESSIONS = 50;

/**
 * What becomes of the tasks that runs wait for when their session is archived: nobody can claim them any more, so they
 * are cancelled, and the runs hear of it as of any task that is closed. The archived session says until then that it is
 * not cleared, so that a sweep finishes what an instance has left that died.
 */
export class ArchiveClearing extends Service<CoordinationPorts> {
  readonly part: SweepPart = { name: 'archives', run: (turn) => this.sweep(turn) };

  /** Clears a session that has just been archived. Where it is not done in a moment, the sweep makes up for it. */
  async clear(session: ArchivedSession): Promise<boolean> {
    try {
      return await this.cancelAll(session);
    } catch (error) {
      this.ports.log.error('archive_not_cleared', { session: session.id, error });
      return false;
    }
  }

  /** Clears what archiving has left behind. */
  private async sweep(turn: SweepTurn): Promise<Swept> {
    const uncleared = await this.ports.archive.uncleared(MAX_SESSIONS);
    let cleared = 0;
    for (const session of uncleared) {
      if (turn.isOver()) break;
      if (await this.clear(session)) cleared++;
    }
    const isBehind = cleared < uncleared.length || uncleared.length === MAX_SESSIONS;
    return { counts: { cleared }, isBehind };
  }

  /** Tells whether none is left. */
  private async cancelAll({ workspace, id }: ArchivedSession): Promise<boolean> {
    const { tasks, store } = this.ports;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const open = await tasks.openStartingWith(id, TASKS_OF_RUNS, ABREAST);
      await Promise.all(open.map((task) => this.cancel(task)));
      if (open.length > 0) continue;
      await store.commit([{ kind: 'sessionCleared', session: { workspace, id } }]);
      return true;
    }
    return false;
  }

  /** Cancels the task, whoever holds it; or leaves it as somebody else has just changed it, for the next look. */
  private async cancel({ value: before, version }: Versioned<Task>): Promise<void> {
    const { store, clock } = this.ports;
    const now = clock.now();
    const task = cancelTask(before, 'The session that it belonged to was archived.', now);
    await unlessStale(store.commit(outcomeChanges(before, { kind: 'accepted', task }, version, now)));
  }
}
