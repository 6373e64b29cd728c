/**
 * Clearing up after agents that died: lapsed leases are released or, where the holder was seen since,
 * renewed; waits before a retry are ended. Each task is one commit of its own, so that two sweeps at once,
 * a late one or one that dies half-way do no harm. Source: design, section 6, "liveness sweep".
 */
import { type Ending, endQueue, loseRunner } from '../coding/ending.ts';
import { type CodingTask, isCodingTask } from '../coding/task.ts';
import { endingChanges } from '../coding/writing.ts';
import { MusterError } from '../errors.ts';
import type { Clock, Log, Presence } from '../ports.ts';
import type { SessionReader, TaskReader } from '../readers.ts';
import { type Change, StaleWriteError, type Store, type Versioned } from '../store.ts';
import { countedChange } from './counting.ts';
import { endBackoff, releaseTask, renewLease } from './machine.ts';
import type { Task } from './task.ts';

const BATCH = 100;

/** The most batches of each kind in one sweep; the next one goes on. */
const MAX_BATCHES = 20;

export interface TaskSweepDependencies {
  readonly tasks: TaskReader;
  readonly sessions: SessionReader;
  readonly store: Store;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly log: Log;
}

export interface TaskSweepReport {
  readonly released: number;
  readonly renewed: number;
  readonly retried: number;
  /** Coding tasks that no runner came for. */
  readonly unclaimed: number;
}

export class TaskSweep {
  private readonly dependencies: TaskSweepDependencies;

  constructor(dependencies: TaskSweepDependencies) {
    this.dependencies = dependencies;
  }

  async run(): Promise<TaskSweepReport> {
    const { tasks, clock } = this.dependencies;
    const now = clock.now();
    const counts = { released: 0, renewed: 0, retried: 0, unclaimed: 0 };
    await this.inBatches(
      () => tasks.lapsed(now, BATCH),
      async (batch) => {
        const holders = batch.flatMap((task) => task.value.claim?.agentId ?? []);
        const seen = await this.dependencies.presence.lastSeen([...new Set(holders)]);
        for (const task of batch) {
          const outcome = await this.sweepLease(task, seen, now);
          if (outcome !== undefined) counts[outcome]++;
        }
      },
    );
    await this.inBatches(
      () => tasks.backedOff(now, BATCH),
      async (batch) => {
        for (const task of batch)
          if (await this.commit(task, endBackoff(task.value), [], now)) counts.retried++;
      },
    );
    await this.inBatches(
      () => tasks.queueEnded(now, BATCH),
      async (batch) => {
        for (const { value, version } of batch) {
          if (isCodingTask(value) && (await this.end(value, version, endQueue(value, now))))
            counts.unclaimed++;
        }
      },
    );
    return counts;
  }

  private async sweepLease(
    task: Versioned<Task>,
    seen: ReadonlyMap<string, Date>,
    now: Date,
  ): Promise<'released' | 'renewed' | undefined> {
    const { claim } = task.value;
    if (claim === undefined) return undefined;
    const seenAt = seen.get(claim.agentId);
    const renewed = seenAt === undefined || claim.isRunners ? undefined : renewLease(task.value, seenAt);
    if (renewed?.claim !== undefined && renewed.claim.leaseExpiresAt > now) {
      const changes: Change[] = [{ kind: 'replaceTask', task: renewed, version: task.version }];
      return (await this.attempt(task.value.id, changes)) ? 'renewed' : undefined;
    }
    if (isCodingTask(task.value)) {
      return (await this.end(task.value, task.version, loseRunner(task.value, now))) ? 'released' : undefined;
    }
    const drop: Change = { kind: 'dropTask', agentId: claim.agentId, taskId: task.value.id, wasHeld: true };
    return (await this.commit(task, releaseTask(task.value), [drop], now)) ? 'released' : undefined;
  }

  private async end(before: CodingTask, version: string, ending: Ending): Promise<boolean> {
    const { sessions } = this.dependencies;
    return this.attempt(before.id, await endingChanges(sessions, before, ending, version));
  }

  private async commit(
    before: Versioned<Task>,
    task: Task,
    more: readonly Change[],
    now: Date,
  ): Promise<boolean> {
    const open = await this.dependencies.sessions.current(task.workspace);
    const grew: Change[] =
      open?.session.id === task.session
        ? [{ kind: 'queueGrew', workspace: task.workspace, session: task.session, capabilityKeys: [] }]
        : [];
    const replaced: Change = { kind: 'replaceTask', task, version: before.version };
    return this.attempt(task.id, [replaced, countedChange(before.value, task, now), ...more, ...grew]);
  }

  /** Commits, or leaves the task to whoever changed it in between. */
  private async attempt(taskId: string, changes: readonly Change[]): Promise<boolean> {
    try {
      await this.dependencies.store.commit(changes);
      return true;
    } catch (error) {
      if (error instanceof StaleWriteError || error instanceof MusterError) return false;
      this.dependencies.log.error('sweep_failed', { taskId, error });
      return false;
    }
  }

  private async inBatches(
    read: () => Promise<readonly Versioned<Task>[]>,
    work: (batch: readonly Versioned<Task>[]) => Promise<void>,
  ): Promise<void> {
    for (let count = 0; count < MAX_BATCHES; count++) {
      const batch = await read();
      await work(batch);
      if (batch.length < BATCH) return;
    }
  }
}
