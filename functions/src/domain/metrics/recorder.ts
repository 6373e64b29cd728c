/** Counts in memory, and stores the counts now and then: a write a call would cost as much as the call. */
import { inTime } from '../deadline.ts';
import type { KernelPorts } from '../ports.ts';
import { CallCounter } from './counter.ts';
import type { CallMetrics, EndedCall, MetricsLedger } from './metrics.ts';

/** Counts are stored at most this often by one instance. */
export const FLUSH_MILLISECONDS = 5000;

/** A caller waits no longer for counts to be stored. */
const WAIT_MILLISECONDS = 1000;

export class CallRecorder implements CallMetrics {
  private readonly ledger: MetricsLedger;
  private readonly ports: KernelPorts;
  private readonly counter = new CallCounter();
  /** When the counts in memory are to be stored. */
  private dueAt: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> | undefined;

  constructor(ledger: MetricsLedger, ports: KernelPorts) {
    this.ledger = ledger;
    this.ports = ports;
  }

  /**
   * An instance without requests may have no processor, so that its timer does not fire: the next call then
   * finds the counts due.
   */
  record(call: EndedCall): Promise<void> | undefined {
    this.counter.add(call);
    const now = this.ports.clock.now().getTime();
    this.dueAt ??= now + FLUSH_MILLISECONDS;
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MILLISECONDS).unref();
    // A database that is away is waited for once, and not by every call.
    return now < this.dueAt || this.storing !== undefined ? undefined : this.flush();
  }

  /** Stores what has been counted. Takes a second at most; the rest then goes on by itself. Never fails. */
  async flush(): Promise<void> {
    this.dueAt = undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    await inTime(this.store(), WAIT_MILLISECONDS, 'The ledger').catch(() => undefined);
  }

  /** One write at a time: a database that is away must not be sent ever more of them when it is back. */
  private async store(): Promise<void> {
    await this.storing;
    if (this.counter.isEmpty) return;
    const { log } = this.ports;
    this.storing = this.ledger
      .add(this.counter.empty())
      .catch((error: unknown) => log.warn('metrics_lost', { error }))
      .finally(() => {
        this.storing = undefined;
      });
    await this.storing;
  }
}
