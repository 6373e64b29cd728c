/** Archived sessions: what becomes of the tasks that runs wait for, and how one comes back. Source: docs/semantics.md#levers. */

import type { RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import type { SweepPart, SweepTurn, Swept } from '../../../kernel/sweep.ts';
import { retryStale, unlessStale } from '../../../kernel/waiting.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import type { ArchivedSession, OpenSession, Session } from './session.ts';
import { cancelTask } from './stateMachine.ts';
import { TASKS_OF_RUNS, type Task } from './task.ts';
import { outcomeChanges } from './taskChanges.ts';

/** How many tasks of an archived session are cancelled side by side, each in a commit of its own. */
const ABREAST = 20;

/** How often one clearing reads on; the next sweep does the rest. */
const MAX_ROUNDS = 5;

/** How many archived sessions one sweep clears. */
const MAX_SESSIONS = 50;

/** A session, and how many of its tasks are not closed. */
export interface SessionExtent {
  readonly session: Session;
  readonly open: number;
  readonly held: number;
}

export interface Reopened extends SessionExtent {
  readonly archived?: SessionExtent;
}

export class SessionArchives extends Service<CoordinationPorts> {
  /**
   * Nobody can claim the tasks of an archived session any more, so those that runs wait for are cancelled, and the runs
   * hear of it as of any task that is closed. The archived session says until then that it is not cleared, so that the
   * sweep finishes what an instance has left that died.
   */
  readonly part: SweepPart = { name: 'archives', run: (turn) => this.sweep(turn) };

  /** Reopens the session (the last archived, without `id`), and archives the open one. @throws MusterError NOT_FOUND; CONFLICT */
  async reopen(
    workspace: string,
    id: string | undefined,
    recordAnswer: RecordAnswer<Reopened>,
  ): Promise<Reopened> {
    const { sessions, store, clock, randomness } = this.ports;
    const reopened = await retryStale(randomness, async (): Promise<Reopened> => {
      const [{ open, vacant }, found] = await Promise.all([
        sessions.opening(workspace),
        id === undefined ? sessions.lastArchived(workspace) : sessions.archived(workspace, id),
      ]);
      if (open !== undefined && open.session.id === id) throw alreadyOpen(id);
      const replaces = open?.workspaceVersion ?? vacant;
      if (found === undefined || replaces === undefined) throw noArchived(id);
      const session = found.value;
      const outcome: Reopened = {
        ...(await this.extentOf(session)),
        ...(open && { archived: await this.extentOf(open.session) }),
      };
      const archiving: CoordinationChange[] = open ? [archivingOf(open, clock.now())] : [];
      const { version: archivedVersion } = found;
      const reopening: CoordinationChange = { kind: 'reopenSession', session, archivedVersion, replaces };
      await store.commit([...archiving, reopening], recordAnswer(outcome));
      return outcome;
    });
    if (reopened.archived !== undefined) await this.clear(reopened.archived.session);
    return reopened;
  }

  async extentOf(session: Session): Promise<SessionExtent> {
    const { counts } = await this.ports.sessions.counters(session.workspace, session.id);
    const held = counts.claimed + counts.in_progress + counts.waiting;
    return { session, open: counts.available + held, held };
  }

  private async sweep(turn: SweepTurn): Promise<Swept> {
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
  async clear({ workspace, id }: ArchivedSession): Promise<boolean> {
    const { tasks, store, log } = this.ports;
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const open = await tasks.openStartingWith(id, TASKS_OF_RUNS, ABREAST);
        await Promise.all(open.map((task) => this.cancel(task)));
        if (open.length > 0) continue;
        // It may have been opened again meanwhile.
        await unlessStale(store.commit([{ kind: 'sessionCleared', session: { workspace, id } }]));
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

export function archivingOf({ session, sessionVersion: version }: OpenSession, at: Date): CoordinationChange {
  return { kind: 'archiveSession', session, version, at };
}

function alreadyOpen(id: string): MusterError {
  return new MusterError('CONFLICT', `Session "${id}" is the open one.`, {
    field: 'session_id',
    value: id,
    reason: 'WRONG_STATE',
    suggestion: 'Leave session_id out to bring back the one that was archived last.',
  });
}

function noArchived(id: string | undefined): MusterError {
  const what = id === undefined ? 'There is no archived session.' : `There is no archived session "${id}".`;
  return new MusterError('NOT_FOUND', what, {
    field: 'session_id',
    suggestion: 'coordination.init_coordination answers the id of the session that it has archived.',
  });
}
