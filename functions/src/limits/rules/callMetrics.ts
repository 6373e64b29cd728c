/** Call metrics, counted in memory and stored at intervals. Source: the network specification, "Monitoring". */
import { withTimeout } from '../../kernel/concurrency.ts';
import type { ErrorCode } from '../../kernel/errors.ts';
import { type KernelPorts, MINUTE_MS, Service } from '../../kernel/ports.ts';
import { BUCKETS } from './latency.ts';

export interface EndedCall {
  /** Full name of the tool, such as `coordination.create_task`, or URI of the resource as its toolset lists it. */
  readonly tool: string;
  readonly agentId?: string | undefined;
  readonly outcome: ErrorCode | 'OK';
  readonly milliseconds: number;
  readonly at: Date;
}

export type RecordedCounts = Readonly<ReturnType<typeof emptyCounts>>;
export type Counts = Omit<RecordedCounts, 'latencies'>;

function emptyCounts() {
  return {
    calls: 0,
    failures: 0,
    milliseconds: 0,
    /** Number of failed calls, per error code. */
    errors: new Map<string, number>(),
    /** Number of calls, per bucket of their latency. */
    latencies: new Map<string, number>(),
  };
}

type Sum = ReturnType<typeof emptyCounts>;

/** Maximum number of tools and agents with counts. Further ones are not counted until the counts have been stored. */
const MAX_COUNTED = 5000;

export type Tally = ReturnType<CallCounter['empty']>;

/** Counts the calls of one instance until the counts are stored. */
export class CallCounter {
  private minutes = new Map<number, { minute: Date; all: Sum; tools: Map<string, Sum> }>();
  /** `since` is the time of the agent's first call. */
  private agents = new Map<string, Sum & { since: Date }>();
  private size = 0;

  get isEmpty(): boolean {
    return this.size === 0;
  }

  add(call: EndedCall): void {
    const minute = Math.floor(call.at.getTime() / MINUTE_MS) * MINUTE_MS;
    const ofMinute = this.entry(this.minutes, minute, () => ({
      minute: new Date(minute),
      all: emptyCounts(),
      tools: new Map(),
    }));
    if (ofMinute === undefined) return;
    count(ofMinute.all, call);
    const ofTool = this.entry(ofMinute.tools, call.tool, emptyCounts);
    if (ofTool !== undefined) count(ofTool, call);
    if (call.agentId === undefined) return;
    const ofAgent = this.entry(this.agents, call.agentId, () => ({ ...emptyCounts(), since: call.at }));
    if (ofAgent !== undefined) count(ofAgent, call);
  }

  /** Returns the counts and resets them to zero. */
  empty() {
    const { minutes, agents } = this;
    this.minutes = new Map();
    this.agents = new Map();
    this.size = 0;
    return { minutes: [...minutes.values()], agents };
  }

  private entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value | undefined {
    const known = map.get(key);
    if (known !== undefined || this.size >= MAX_COUNTED) return known;
    this.size += 1;
    const made = make();
    map.set(key, made);
    return made;
  }
}

function count(sum: Sum, { outcome, milliseconds }: EndedCall): void {
  sum.calls += 1;
  sum.milliseconds += milliseconds;
  increment(sum.latencies, bucketOf(milliseconds));
  if (outcome === 'OK') return;
  sum.failures += 1;
  increment(sum.errors, outcome);
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Minimum time between two writes of an instance's counts, in milliseconds. */
export const FLUSH_INTERVAL_MS = 5000;

/** Maximum time that a caller waits while counts are stored, in milliseconds. */
const STORE_TIMEOUT_MS = 1000;

export interface MetricsLedger {
  /** Adds all counts in one atomic write. While the database is unreachable, the promise stays pending. */
  add(tally: Tally): Promise<void>;
  /** Adds to the cost of the current day, in US dollars. */
  addCost(dollars: number): Promise<void>;
}

/** Counts calls in memory, and stores the counts at intervals. A write per call would cost as much as the call. */
export class CallRecorder extends Service<KernelPorts> {
  private readonly ledger: MetricsLedger;
  private readonly counter = new CallCounter();
  private dueAt: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> | undefined;
  private readonly lost = (error: unknown) => this.ports.log.warn('metrics_lost', { error });

  constructor(ledger: MetricsLedger, ports: KernelPorts) {
    super(ports);
    this.ledger = ledger;
  }

  /**
   * Counts a call, and never fails. If the counts are due, stores them, and waits at most a second for the write. The
   * timer of an idle instance may not fire, because the instance has no CPU time. The next call then stores the
   * counts.
   */
  record(call: EndedCall): Promise<void> | undefined {
    this.counter.add(call);
    const now = this.ports.clock.now().getTime();
    this.dueAt ??= now + FLUSH_INTERVAL_MS;
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
    // While the database is unreachable, only the call that started the write waits, and not every call.
    return now < this.dueAt || this.storing !== undefined ? undefined : this.flush();
  }

  /** Stores the counts, and never fails. Returns after at most a second; storing continues in the background. */
  async flush(): Promise<void> {
    this.dueAt = undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    await withTimeout(this.store(), STORE_TIMEOUT_MS, 'The ledger').catch(() => undefined);
  }

  /** Adds to the cost of the day, and never fails. Waits at most a second: the instance may have no CPU time later. */
  async recordCost(dollars: number): Promise<void> {
    if (dollars <= 0) return;
    const adding = this.ledger.addCost(dollars).catch(this.lost);
    await withTimeout(adding, STORE_TIMEOUT_MS, 'The ledger').catch(() => undefined);
  }

  /** Runs one write at a time, so that writes do not accumulate while the database is unreachable. */
  private async store(): Promise<void> {
    await this.storing;
    if (this.counter.isEmpty) return;
    this.storing = this.ledger
      .add(this.counter.empty())
      .catch(this.lost)
      .finally(() => {
        this.storing = undefined;
      });
    await this.storing;
  }
}

/** Returns the bucket of a latency. */
export function bucketOf(milliseconds: number): string {
  return BUCKETS.find(({ end }) => milliseconds < end)?.key ?? '';
}
