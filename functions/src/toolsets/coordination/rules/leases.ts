/**
 * Clearing up after agents that died: lapsed leases are released or, where the holder was seen since,
 * renewed; waits before a retry are ended. Each task is one commit of its own, so that two sweeps at once,
 * a late one or one that dies half-way do no harm. Source: docs/semantics.md#coordination.
 */

import { LEASES } from '../../../access/rules/liveness.ts';
import { type Change, StaleWriteError, type Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Batch, Position } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import {
  type PresenceHealth,
  type SweepPart,
  type SweepTurn,
  type Swept,
  walk,
} from '../../../kernel/sweep.ts';
import { inTime } from '../../../kernel/waiting.ts';
import { type CodingTask, isCodingTask } from './codingTask.ts';
import { endBackoff, releaseTask, renewLease } from './machine.ts';
import { type CoordinationPorts, queueGrowth } from './session.ts';
import { type Task, taskChanges } from './task.ts';

const BATCH = 100;

/** How long the holders of one batch are looked for. */
const PRESENCE_MILLISECONDS = 10_000;

interface LapsedTask {
  readonly task: Versioned<Task>;
  /** When its holder was last seen, where that is known. */
  readonly seenAt: Date | undefined;
}

/** What becomes of coding tasks that nobody works on any more. The toolset of coding tasks brings it. */
export interface CodingExpiry {
  /** The changes that follow when the lease of a task has lapsed. */
  leaseExpired(task: Versioned<CodingTask>, now: Date): Promise<readonly Change[]>;
  /** The changes that follow when no runner has come for a task in time. */
  queueExpired(task: Versioned<CodingTask>, now: Date): Promise<readonly Change[]>;
}

export class TaskSweep extends Service<CoordinationPorts> {
  readonly parts: readonly SweepPart[] = [
    { name: LEASES, run: (turn) => this.sweepLeases(turn) },
    { name: 'backoffs', run: (turn) => this.sweepBackoffs(turn) },
    { name: 'queueEnds', run: (turn) => this.sweepQueueEnds(turn) },
  ];
  private readonly coding: CodingExpiry;

  constructor(ports: CoordinationPorts, coding: CodingExpiry) {
    super(ports);
    this.coding = coding;
  }

  private async sweepLeases(turn: SweepTurn): Promise<Swept> {
    const counts = { released: 0, renewed: 0, left: 0 };
    const health = await turn.presence;
    const end = await walk(
      turn,
      (after) => this.lapsed(turn.now, health, after),
      async (lapsed) => {
        const outcome = await this.attempt(lapsed.task.value.id, () =>
          this.sweepLease(lapsed, health, turn.now),
        );
        if (outcome !== undefined) counts[outcome]++;
      },
    );
    return { ...end, counts, isBehind: end.isBehind || (health === 'away' && counts.left > 0) };
  }

  private async sweepBackoffs(turn: SweepTurn): Promise<Swept> {
    const { tasks } = this.ports;
    let retried = 0;
    const end = await walk(
      turn,
      (after) => tasks.backedOff(turn.now, BATCH, after),
      async (task) => {
        const { id } = task.value;
        if (await this.attempt(id, () => this.replace(task, endBackoff(task.value), [], turn.now))) retried++;
      },
    );
    return { ...end, counts: { retried } };
  }

  /** Gives up on coding tasks that no runner came for. */
  private async sweepQueueEnds(turn: SweepTurn): Promise<Swept> {
    const { tasks } = this.ports;
    let unclaimed = 0;
    const end = await walk(
      turn,
      (after) => tasks.queueEnded(turn.now, BATCH, after),
      async ({ value, version }) => {
        if (!isCodingTask(value)) return;
        const task = { value, version };
        const expire = async () => this.commit(await this.coding.queueExpired(task, turn.now));
        if (await this.attempt(value.id, expire)) unclaimed++;
      },
    );
    return { ...end, counts: { unclaimed } };
  }

  private async lapsed(
    now: Date,
    health: PresenceHealth,
    after: Position | undefined,
  ): Promise<Batch<LapsedTask>> {
    const { tasks, presence } = this.ports;
    const { found, next } = await tasks.lapsed(now, BATCH, after);
    const holders = found.flatMap(({ item }) => item.value.claim?.agentId ?? []);
    const seen =
      health === 'away'
        ? new Map<string, Date>()
        : await inTime(presence.lastSeen([...new Set(holders)]), PRESENCE_MILLISECONDS, 'Presence');
    const withHolders = found.map(({ item: task, place }) => {
      const { claim } = task.value;
      return { item: { task, seenAt: claim && seen.get(claim.agentId) }, place };
    });
    return { found: withHolders, ...(next && { next }) };
  }

  private async sweepLease(
    { task, seenAt }: LapsedTask,
    health: PresenceHealth,
    now: Date,
  ): Promise<'released' | 'renewed' | 'left' | undefined> {
    const { claim } = task.value;
    if (claim === undefined) return undefined;
    const renewed = seenAt === undefined || claim.isRunners ? undefined : renewLease(task.value, seenAt);
    if (renewed?.claim !== undefined && renewed.claim.leaseExpiresAt > now) {
      await this.ports.store.commit([{ kind: 'replaceTask', task: renewed, version: task.version }]);
      return 'renewed';
    }
    // A runner renews its lease in the task itself: what is known of its presence does not matter.
    if (!claim.isRunners && health !== 'trusted') return 'left';
    const { value, version } = task;
    if (isCodingTask(value)) {
      await this.commit(await this.coding.leaseExpired({ value, version }, now));
      return 'released';
    }
    const drop: Change = { kind: 'dropTask', agentId: claim.agentId, taskId: task.value.id, wasHeld: true };
    await this.replace(task, releaseTask(task.value), [drop], now);
    return 'released';
  }

  private async replace(
    before: Versioned<Task>,
    task: Task,
    more: readonly Change[],
    now: Date,
  ): Promise<true> {
    const grown = await queueGrowth(this.ports.sessions, task);
    return this.commit([...taskChanges(before.value, task, before.version, now), ...more, ...grown]);
  }

  /** Commits; where a holder no longer exists, without what it would be relieved of. */
  private async commit(changes: readonly Change[]): Promise<true> {
    const { store, agents } = this.ports;
    try {
      await store.commit(changes);
    } catch (error) {
      if (!(error instanceof StaleWriteError)) throw error;
      const drop = changes.find((change) => change.kind === 'dropTask');
      if (drop === undefined || (await agents.find(drop.agentId)) !== undefined) throw error;
      await store.commit(changes.filter((change) => change !== drop));
    }
    return true;
  }

  /** Tries, or leaves the task to whoever changed it in between. */
  private async attempt<Outcome>(
    taskId: string,
    change: () => Promise<Outcome>,
  ): Promise<Outcome | undefined> {
    try {
      return await change();
    } catch (error) {
      if (error instanceof StaleWriteError || error instanceof MusterError) return undefined;
      this.ports.log.error('sweep_failed', { taskId, error });
      return undefined;
    }
  }
}
