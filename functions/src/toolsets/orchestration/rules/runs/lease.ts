/** The lease of a run. Only the instance that holds the lease executes the run. Writes with an older epoch fail. */
import type { Versioned } from '../../../../kernel/commit.ts';
import { retryOnConflict } from '../../../../kernel/concurrency.ts';
import { skipUnreadable } from '../../../../kernel/ports.ts';
import type { Task } from '../../../coordination/index.ts';
import type { OrchestrationChange, OrchestrationPorts } from '../ports.ts';
import { isEnded, isLeased, LEASE_MS, leasedRun, type Run, renewedRun } from './run.ts';

/** Thrown if this instance no longer holds the lease of the run, or if the run has ended. */
export class LeaseLostError extends Error {
  constructor() {
    super('Another instance executes the run, or the run has ended.');
    this.name = 'LeaseLostError';
  }
}

/** A run without its lease, and further changes for the same commit. */
export interface ReleasedRun {
  readonly run: Run;
  readonly changes: readonly OrchestrationChange[];
}

/** Takes the lease. @returns `busy` if another instance may hold the lease; `over` if there is nothing to execute */
export function acquireRun(ports: OrchestrationPorts, runId: string) {
  const { runs, store, clock, randomness } = ports;
  return retryOnConflict(randomness, async () => {
    const found = await runs.find(runId);
    if (found === undefined || isEnded(found.value)) return 'over';
    const now = clock.now();
    if (isLeased(found.value, now)) return 'busy';
    const run = leasedRun(found.value, now);
    await store.commit([{ kind: 'replaceRun', before: found.value, run, version: found.version }]);
    return { lease: new RunLease(ports, run), run };
  });
}

/** Cancels a run that cannot succeed, because one of its tasks was cancelled. The executing instance then stops. */
export function cancelRunOf(ports: OrchestrationPorts, runId: string, task: Task): Promise<void> {
  const { runs, store, clock, randomness } = ports;
  return retryOnConflict(randomness, async () => {
    const found = await skipUnreadable(runs.find(runId));
    if (found === undefined || isEnded(found.value) || !isLeased(found.value, clock.now())) return;
    if (found.value.cancel_requested) return;
    const warnings = [...found.value.warnings, cancelReason(task)];
    const run = { ...found.value, cancel_requested: true, warnings };
    await store.commit([{ kind: 'replaceRun', before: found.value, run, version: found.version }]);
  });
}

/** Returns the warning of a run that was cancelled because this task was cancelled. */
export function cancelReason({ id, error }: Task): string {
  return `The task ${id} was cancelled${error === undefined ? '.' : `: ${error}`}`;
}

export class RunLease {
  private readonly ports: OrchestrationPorts;
  readonly runId: string;
  private readonly epoch: number;
  private readonly stopping = new AbortController();
  private readonly watching = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private expiresAt: Date | undefined;
  private lost: unknown;
  /** The latest change. Changes of one run are applied one at a time, because concurrent changes would conflict. */
  private lastChange: Promise<unknown> = Promise.resolve();
  isCancelled: boolean;
  /** Aborts when the run is cancelled or this instance loses the lease. */
  readonly stop = this.stopping.signal;

  constructor(ports: OrchestrationPorts, { id, epoch, lease_expires_at, cancel_requested }: Run) {
    this.ports = ports;
    this.runId = id;
    this.epoch = epoch;
    this.expiresAt = lease_expires_at;
    this.isCancelled = cancel_requested;
    this.timer = setInterval(() => void this.renew(), LEASE_MS / 3);
    void this.watch();
  }

  /** @throws LeaseLostError if the lease is lost, or the error that was passed to `abandon` */
  readonly require = (): void => {
    if (this.lost !== undefined) throw this.lost;
    if (this.expiresAt === undefined || this.expiresAt <= this.ports.clock.now()) throw this.lose();
  };

  /** Aborts all requests of the run and prevents further writes. @param why error that further writes throw */
  abandon(why: unknown): void {
    this.lost ??= why;
    this.stopping.abort();
  }

  /** Releases an abandoned run before its lease expires. @param left returns the run to store */
  async releaseRun(left: (run: Run, now: Date) => Promise<ReleasedRun>): Promise<void> {
    const { store, clock, randomness, log } = this.ports;
    try {
      await retryOnConflict(randomness, async () => {
        const found = await this.isHeld();
        if (found === undefined) return;
        const { run, changes } = await left(found.value, clock.now());
        const replaced: OrchestrationChange = { kind: 'replaceRun', before: found.value, run, version: found.version };
        await store.commit([replaced, ...changes]);
      });
    } catch (error) {
      // If the release fails, another instance can continue the run when the lease expires.
      log.warn('lease_not_given_back', { runId: this.runId, error });
    }
  }

  /** Changes the run and commits further changes with it. @throws LeaseLostError, or the error passed to `abandon` */
  change(
    apply: (run: Run, now: Date) => Run,
    more: (run: Run, now: Date) => readonly OrchestrationChange[] | Promise<readonly OrchestrationChange[]> = () => [],
  ): Promise<Run> {
    const { store, clock, randomness } = this.ports;
    const changeOnce = () =>
      retryOnConflict(randomness, async () => {
        if (this.lost !== undefined) throw this.lost;
        const found = await this.isHeld();
        if (found === undefined) throw this.lose();
        const now = clock.now();
        const run = apply(renewedRun(found.value, now), now);
        const replaced: OrchestrationChange = { kind: 'replaceRun', before: found.value, run, version: found.version };
        await store.commit([replaced, ...(await more(run, now))]);
        if (run.lease_expires_at !== undefined) this.expiresAt = run.lease_expires_at;
        return run;
      });
    const changed = this.lastChange.then(changeOnce);
    this.lastChange = changed.catch(() => undefined);
    return changed;
  }

  /** Stops renewing the lease and watching the run. The run's last change must have released the lease. */
  close(): void {
    clearInterval(this.timer);
    this.watching.abort();
  }

  private async isHeld(): Promise<Versioned<Run> | undefined> {
    const found = await this.ports.runs.find(this.runId);
    return found?.value.epoch === this.epoch && !isEnded(found.value) ? found : undefined;
  }

  private lose(): unknown {
    this.abandon(new LeaseLostError());
    return this.lost;
  }

  private async renew(): Promise<void> {
    try {
      await this.change((run) => run);
    } catch (error) {
      // A later renewal may succeed before the lease expires. Otherwise, `require` throws.
      if (!(error instanceof LeaseLostError)) this.ports.log.warn('lease_not_renewed', { runId: this.runId, error });
    }
  }

  private async watch(): Promise<void> {
    try {
      for await (const run of this.ports.runs.watch(this.runId, this.watching.signal)) {
        if (run.epoch !== this.epoch) this.lose();
        if (!run.cancel_requested) continue;
        this.isCancelled = true;
        this.stopping.abort();
      }
    } catch (error) {
      // Without the watch, the run notices a cancellation only between two steps.
      this.ports.log.warn('run_not_watched', { runId: this.runId, error });
    }
  }
}
