/**
 * The sweep of the queue. It releases tasks whose lease expired, but renews the lease if the agent was seen after its
 * last renewal. It also ends retry delays and expires coding tasks that no runner claimed. Each task is a separate
 * commit, so concurrent, late or interrupted sweeps do no harm. Source: docs/semantics.md#coordination.
 */
import { LEASES } from '../../../agents/rules/liveness.ts';
import { StaleWriteError, type Versioned } from '../../../kernel/commit.ts';
import { withTimeout } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import {
  type PresenceHealth,
  type SweepContext,
  type SweepJob,
  type SweepReport,
  sweepPages,
} from '../../../kernel/sweep.ts';
import { type CodingTask, isCodingTask } from './codingTask.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { endBackoff, releaseTask, renewLease, waitForAnswer } from './stateMachine.ts';
import type { Task } from './task.ts';
import { taskChanges } from './taskChanges.ts';

const BATCH = 100;

/** Timeout for reading when the holders of one batch of tasks were last seen. */
const PRESENCE_TIMEOUT_MS = 10_000;

/** Decides how coding tasks expire; implemented by the coding toolset. */
export interface CodingExpiry {
  leaseExpired(task: Versioned<CodingTask>, now: Date): Promise<readonly CoordinationChange[]>;
  /** Returns the changes for a coding task that no runner claimed in time. */
  queueExpired(task: Versioned<CodingTask>, now: Date): Promise<readonly CoordinationChange[]>;
}

export class TaskSweep extends Service<CoordinationPorts & { readonly coding: CodingExpiry }> {
  readonly sweepJobs: readonly SweepJob[] = [
    { name: LEASES, run: (turn) => this.sweepLeases(turn) },
    { name: 'backoffs', run: (turn) => this.sweepBackoffs(turn) },
    { name: 'queueEnds', run: (turn) => this.sweepQueueEnds(turn) },
  ];

  private async sweepLeases(turn: SweepContext): Promise<SweepReport> {
    const { tasks, presence } = this.ports;
    const health = await turn.presence;
    const counts = { released: 0, renewed: 0, left: 0 };
    let seen: ReadonlyMap<string, Date> = new Map();
    const expiredTasks = async (after: TimeCursor | undefined) => {
      const batch = await tasks.expired(turn.now, BATCH, after);
      const holders = new Set(batch.found.flatMap(({ item }) => item.value.claim?.claimed_by ?? []));
      if (health !== 'away') seen = await withTimeout(presence.lastSeen([...holders]), PRESENCE_TIMEOUT_MS, 'Presence');
      return batch;
    };
    const swept = await this.sweep(turn, counts, expiredTasks, (task) => this.sweepLease(task, seen, health, turn.now));
    return { ...swept, isBehind: swept.isBehind || (health === 'away' && counts.left > 0) };
  }

  private sweepBackoffs(turn: SweepContext): Promise<SweepReport> {
    const due = (after: TimeCursor | undefined) => this.ports.tasks.backedOff(turn.now, BATCH, after);
    return this.sweep(turn, { retried: 0 }, due, async (task) => {
      await this.replace(task, endBackoff(task.value), [], turn.now);
      return 'retried';
    });
  }

  private sweepQueueEnds(turn: SweepContext): Promise<SweepReport> {
    const due = (after: TimeCursor | undefined) => this.ports.tasks.queueEnded(turn.now, BATCH, after);
    return this.sweep(turn, { unclaimed: 0 }, due, async ({ value, version }) => {
      if (!isCodingTask(value)) return undefined;
      await this.ports.store.commit(await this.ports.coding.queueExpired({ value, version }, turn.now));
      return 'unclaimed';
    });
  }

  /** Changes the tasks that are due and counts the outcomes. Skips tasks that other calls are changing. */
  private async sweep<Outcome extends string>(
    turn: SweepContext,
    counts: Record<Outcome, number>,
    due: (after: TimeCursor | undefined) => Promise<SweepBatch<Versioned<Task>>>,
    change: (task: Versioned<Task>) => Promise<Outcome | undefined>,
  ): Promise<SweepReport> {
    const end = await sweepPages(turn, due, async (task) => {
      try {
        const outcome = await change(task);
        if (outcome !== undefined) counts[outcome]++;
      } catch (error) {
        if (error instanceof StaleWriteError || error instanceof MusterError) return;
        this.ports.log.error('sweep_failed', { taskId: task.value.id, error });
      }
    });
    return { ...end, counts };
  }

  /** @param seen times at which the holders were last seen, if known */
  private async sweepLease(
    { value, version }: Versioned<Task>,
    seen: ReadonlyMap<string, Date>,
    health: PresenceHealth,
    now: Date,
  ): Promise<'released' | 'renewed' | 'left' | undefined> {
    const { claim } = value;
    if (claim === undefined) return undefined;
    const { waiting_for: wait } = value;
    const seenAt = claim.claimed_by_runner ? undefined : seen.get(claim.claimed_by);
    const renewed = wait && wait.until > now ? waitForAnswer(value, wait) : seenAt && renewLease(value, seenAt);
    if (renewed?.claim !== undefined && renewed.claim.lease_expires_at > now) {
      await this.ports.store.commit([{ kind: 'replaceTask', task: renewed, before: value, version }]);
      return 'renewed';
    }
    // Runners renew the lease of each task themselves, so their presence does not matter.
    if (!claim.claimed_by_runner && health !== 'trusted') return 'left';
    if (isCodingTask(value)) {
      await this.ports.store.commit(await this.ports.coding.leaseExpired({ value, version }, now));
      return 'released';
    }
    const drop: CoordinationChange = {
      kind: 'releaseTask',
      agentId: claim.claimed_by,
      taskId: value.id,
      wasHeld: true,
    };
    await this.replace({ value, version }, releaseTask(value), [drop], now);
    return 'released';
  }

  private async replace(before: Versioned<Task>, task: Task, more: readonly CoordinationChange[], now: Date) {
    const grown = await queueGrowth(this.ports.sessions, task);
    await this.ports.store.commit([...taskChanges(before.value, task, before.version, now), ...more, ...grown]);
  }
}
