import type { Versioned } from '../../../kernel/commit.ts';
import type { Randomness } from '../../../kernel/ports.ts';
import { unlessStale } from '../../../kernel/retry.ts';
import type { SweepPart, SweepTurn, Swept } from '../../../kernel/sweep.ts';
import { cancelTask } from './machine.ts';
import type { CoordinationPorts } from './ports.ts';
import { type ArchivedSession, type Session, TASKS_OF_RUNS } from './session.ts';
import type { Task } from './task.ts';
import { outcomeChanges } from './taskChanges.ts';

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

// What becomes of the tasks that runs wait for when their session is archived: nobody can claim them any
// more, so they are cancelled, and the runs hear of it as of any task that is closed. The archived session
// says until then that it is not cleared, so that a sweep finishes what an instance has left that died.

/** How many tasks are cancelled side by side, each in a commit of its own. */
const ABREAST = 20;

/** How often one clearing looks for more; the next sweep goes on. */
const MAX_ROUNDS = 5;

/** How many sessions one sweep clears. */
const MAX_SESSIONS = 50;

export class ArchiveClearing {
  readonly part: SweepPart = { name: 'archives', run: (turn) => this.sweep(turn) };
  private readonly ports: CoordinationPorts;

  constructor(ports: CoordinationPorts) {
    this.ports = ports;
  }

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
