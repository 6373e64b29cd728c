/** Archived sessions: cancels tasks of runs, and reopens sessions. Source: docs/semantics.md#task-actions. */
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { ignoreStale, retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import type { SweepContext, SweepJob, SweepReport } from '../../../kernel/sweep.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import type { ArchivedSession, OpenSession, Session } from './session.ts';
import { cancelTask } from './stateMachine.ts';
import { TASKS_OF_RUNS, type Task } from './task.ts';
import { outcomeChanges } from './taskChanges.ts';

/** Number of tasks of one archived session that are cancelled at the same time, each in a separate commit. */
const CONCURRENCY = 20;

/** Maximum number of batches of tasks that one sweep cancels per session; the next sweep continues. */
const MAX_ROUNDS = 5;

/** Maximum number of archived sessions that one sweep handles. */
const MAX_SESSIONS = 50;

export interface SessionSize {
  readonly session: Session;
  readonly open: number;
  readonly held: number;
}

export interface RestoredSession extends SessionSize {
  readonly archived?: SessionSize;
}

export class SessionArchives extends Service<CoordinationPorts> {
  /**
   * Archived tasks cannot be claimed, so the sweep cancels each archived task that a run waits for, and notifies the
   * run. The session is marked as cleared only afterwards, so that the next sweep continues after a crash.
   */
  readonly sweepJob: SweepJob = { name: 'archives', run: (turn) => this.sweep(turn) };

  /** Reopens a session (default: last archived) and archives the open one. @throws MusterError NOT_FOUND; CONFLICT */
  async restore(
    workspace: string,
    id: string | undefined,
    recordResponse: RecordResponse<RestoredSession>,
  ): Promise<RestoredSession> {
    const { sessions, store, clock, randomness } = this.ports;
    const reopened = await retryOnConflict(randomness, async (): Promise<RestoredSession> => {
      const [{ open, vacant }, found] = await Promise.all([
        sessions.opening(workspace),
        id === undefined ? sessions.lastArchived(workspace) : sessions.archived(workspace, id),
      ]);
      if (open !== undefined && open.session.id === id)
        throw new MusterError('CONFLICT', `Session "${id}" is already open.`, {
          field: 'session_id',
          value: id,
          reason: 'WRONG_STATE',
          suggestion: 'Omit session_id to restore the last archived session.',
        });
      const replaces = open?.workspaceVersion ?? vacant;
      if (found === undefined || replaces === undefined) throw archivedSessionNotFound(id);
      const session = found.value;
      const archived = open && { archived: await this.sizeOf(open.session) };
      const outcome: RestoredSession = { ...(await this.sizeOf(session)), ...archived };
      const archiving: CoordinationChange[] = open ? [archivingOf(open, clock.now())] : [];
      const { version: archivedVersion } = found;
      const reopening: CoordinationChange = { kind: 'reopenSession', session, archivedVersion, replaces };
      await store.commit([...archiving, reopening], recordResponse(outcome));
      return outcome;
    });
    if (reopened.archived !== undefined) await this.clear(reopened.archived.session);
    return reopened;
  }

  async sizeOf(session: Session): Promise<SessionSize> {
    const { open, held } = await this.ports.sessions.counters(session.workspace, session.id);
    return { session, open, held };
  }

  private async sweep(turn: SweepContext): Promise<SweepReport> {
    const uncleared = await this.ports.sessions.uncleared(MAX_SESSIONS);
    let cleared = 0;
    for (const session of uncleared) {
      if (turn.isOver()) break;
      if (await this.clear(session)) cleared++;
    }
    const isBehind = cleared < uncleared.length || uncleared.length === MAX_SESSIONS;
    return { counts: { cleared }, isBehind };
  }

  /** Cancels a batch of tasks that runs wait for. Returns whether none is left. The next sweep cancels the rest. */
  async clear({ workspace, id }: ArchivedSession): Promise<boolean> {
    const { tasks, store, log } = this.ports;
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const open = await tasks.openWithIdPrefix(id, TASKS_OF_RUNS, CONCURRENCY);
        await Promise.all(open.map((task) => this.cancel(task)));
        if (open.length > 0) continue;
        // The commit is stale, and can be ignored, if the session was reopened in the meantime.
        await ignoreStale(store.commit([{ kind: 'sessionCleared', session: { workspace, id } }]));
        return true;
      }
    } catch (error) {
      log.error('archive_not_cleared', { session: id, error });
    }
    return false;
  }

  /** Cancels a task, even if it is held. If another call has changed the task, the next batch cancels it. */
  private async cancel({ value: before, version }: Versioned<Task>): Promise<void> {
    const { store, clock } = this.ports;
    const now = clock.now();
    const task = cancelTask(before, "The task's session was archived.", now);
    await ignoreStale(store.commit(outcomeChanges(before, { kind: 'accepted', task }, version, now)));
  }
}

export function archivingOf({ session, sessionVersion: version }: OpenSession, at: Date): CoordinationChange {
  return { kind: 'archiveSession', session, version, at };
}

function archivedSessionNotFound(id: string | undefined): MusterError {
  const what = id === undefined ? 'No archived session found.' : `Archived session "${id}" not found.`;
  return new MusterError('NOT_FOUND', what, {
    field: 'session_id',
    suggestion: 'coordination.init_coordination returns the id of each session that it archives.',
  });
}
