/** The lease of a run. Only the instance that holds the lease executes the run. Writes with an older epoch fail. */
import { retryOnConflict } from '../../../../kernel/concurrency.ts';
import type { OrchestrationChange, OrchestrationPorts } from '../ports.ts';
import { isEnded, isLeased, LEASE_MS, leasedRun, type Run, type RunOrder, renewedRun } from './run.ts';

/** Thrown if this instance no longer holds the lease of the run, or if the run has ended. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

type Apply = (run: Run, now: Date) => Run;
type More = (run: Run, now: Date) => readonly OrchestrationChange[] | Promise<readonly OrchestrationChange[]>;

/** Takes the lease. @returns `busy` if another instance may hold the lease; `over` if there is nothing to execute */
export function acquireRun(ports: OrchestrationPorts, runId: string): Promise<RunLease | 'busy' | 'over'> {
  const { runs, store, clock, randomness } = ports;
  return retryOnConflict(randomness, async () => {
    const found = await runs.find(runId);
    if (found === undefined || isEnded(found.value)) return 'over';
    const now = clock.now();
    if (isLeased(found.value, now)) return 'busy';
    const run = leasedRun(found.value, now);
    let version: string | undefined;
    const onVersion = (stored: string): void => {
      version = stored;
    };
    // The order never changes, so it is read during the commit.
    const order = runs.order(runId);
    order.catch(() => undefined); // If the commit succeeds, the execution handles the error.
    await store.commit([{ kind: 'replaceRun', before: found.value, run, version: found.version }], { onVersion });
    return new RunLease(ports, run, version, order);
  });
}

export class RunLease {
  private readonly ports: OrchestrationPorts;
  /** The run as this instance has stored it. Others may have changed it since, but only to request its cancellation. */
  run: Run;
  readonly order: Promise<RunOrder>;
  /** Version of the stored run; undefined if the run must be read before it is changed. */
  private version: string | undefined;
  private deferred: readonly { readonly apply: Apply; readonly changes: readonly OrchestrationChange[] }[] = [];
  private readonly stopping = new AbortController();
  private readonly watching = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private lost: unknown;
  /** The latest change. Changes of one run are applied one at a time, because concurrent changes would conflict. */
  private lastChange: Promise<unknown> = Promise.resolve();
  isCancelled = false;
  /** Aborts when the run is cancelled or this instance loses the lease. */
  readonly stop = this.stopping.signal;

  constructor(ports: OrchestrationPorts, run: Run, version: string | undefined, order: Promise<RunOrder>) {
    this.ports = ports;
    this.run = run;
    this.version = version;
    this.order = order;
    this.timer = setInterval(() => void this.renew(), LEASE_MS / 3);
    this.notice(run);
    void this.watch();
  }

  /** @throws LeaseLostError if the lease is lost, or the error that was passed to `abandon` */
  require(): void {
    if (this.lost !== undefined) throw this.lost;
    if (!isLeased(this.run, this.ports.clock.now())) throw this.lose();
  }

  /** Aborts all requests of the run and prevents further writes. @param why error that further writes throw */
  abandon(why: unknown): void {
    this.lost ??= why;
    this.stopping.abort();
  }

  /** Records the answers whose commit was deferred and has failed, so that they are not paid twice. */
  recordAnswers(): Promise<void> {
    const { store, log } = this.ports;
    const answers = this.deferred.flatMap(({ changes }) => changes.filter(({ kind }) => kind === 'completeCall'));
    return store.commit(answers).catch((error) => log.warn('answers_not_recorded', { runId: this.run.id, error }));
  }

  /** Releases an abandoned run before its lease expires, without the deferred changes. */
  async release(apply: Apply, more: More): Promise<void> {
    try {
      await this.replace(apply, more);
    } catch (error) {
      // If the release fails, another instance can continue the run when the lease expires.
      this.ports.log.warn('lease_not_given_back', { runId: this.run.id, error });
    }
  }

  /**
   * Adds changes to the next commit. Use this only if the execution cannot continue without another commit, so that a
   * crash before that commit has the same effect as a crash before these changes.
   */
  defer(changes: readonly OrchestrationChange[], apply: Apply = (run) => run): void {
    this.deferred = [...this.deferred, { apply, changes }];
  }

  /** Commits the start of a call, together with the deferred changes. @throws as `require` and `change` */
  async startCall(changes: readonly OrchestrationChange[]): Promise<void> {
    this.require();
    if (this.deferred.length === 0) return this.ports.store.commit(changes);
    const more = () => changes;
    await this.change((run) => run, more);
  }

  /** Changes the run and commits further changes with it. @throws LeaseLostError, or the error passed to `abandon` */
  change(apply: Apply, more: More = () => []): Promise<Run> {
    return this.afterOthers(async () => {
      const { deferred } = this;
      const applied: Apply = (before, now) =>
        [...deferred, { apply }].reduce((run, one) => one.apply(run, now), this.renewed(before, now));
      const run = await this.replace(applied, async (changed, now) => [
        ...deferred.flatMap(({ changes }) => changes),
        ...(await more(changed, now)),
      ]);
      this.deferred = this.deferred.slice(deferred.length);
      return run;
    });
  }

  private afterOthers<Result>(work: () => Promise<Result>): Promise<Result> {
    const changed = this.lastChange.then(work);
    this.lastChange = changed.catch(() => undefined);
    return changed;
  }

  private readonly renewed: Apply = (run, now) => {
    if (this.lost !== undefined) throw this.lost;
    return renewedRun(run, now);
  };

  private replace(apply: Apply, more: More): Promise<Run> {
    const { runs, store, clock, randomness } = this.ports;
    const onVersion = (version: string): void => {
      this.version = version;
    };
    return retryOnConflict(randomness, async () => {
      const { version } = this;
      const found = version === undefined ? await runs.find(this.run.id) : { value: this.run, version };
      if (found === undefined || found.value.epoch !== this.run.epoch || isEnded(found.value)) throw this.lose();
      this.notice(found.value);
      this.version = undefined;
      const now = clock.now();
      const run = apply(found.value, now);
      const replaced: OrchestrationChange = { kind: 'replaceRun', before: found.value, run, version: found.version };
      await store.commit([replaced, ...(await more(run, now))], { onVersion });
      this.run = run;
      return run;
    });
  }

  /** Stops renewing the lease and watching the run. The run's last change must have released the lease. */
  close(): void {
    clearInterval(this.timer);
    this.watching.abort();
  }

  private lose(): unknown {
    this.abandon(new LeaseLostError('Another instance executes the run, or the run has ended.'));
    return this.lost;
  }

  private async renew(): Promise<void> {
    try {
      await this.afterOthers(() => this.replace(this.renewed, () => []));
    } catch (error) {
      // A later renewal may succeed before the lease expires. Otherwise, `require` throws.
      if (!(error instanceof LeaseLostError)) this.ports.log.warn('lease_not_renewed', { runId: this.run.id, error });
    }
  }

  private async watch(): Promise<void> {
    try {
      for await (const run of this.ports.runs.watch(this.run.id, this.watching.signal)) this.notice(run);
    } catch (error) {
      // Without the watch, the run notices a cancellation only when it stores its next change.
      this.ports.log.warn('run_not_watched', { runId: this.run.id, error });
    }
  }

  private notice({ epoch, cancel_requested }: Run): void {
    if (epoch !== this.run.epoch) this.lose();
    if (!cancel_requested) return;
    this.isCancelled = true;
    this.stopping.abort();
  }
}
