/** The counts of calls, and how an instance gathers them before they are written. Source: the network specification, "Monitoring". */
import type { ErrorCode } from '../../kernel/errors.ts';
import { type KernelPorts, Service } from '../../kernel/ports.ts';
import { inTime } from '../../kernel/waiting.ts';

/** One call that has ended. */
export interface EndedCall {
  /** The tool's full name, `coordination.create_task`, or the URI of a resource as its toolset lists it. */
  readonly tool: string;
  readonly agentId?: string | undefined;
  readonly outcome: ErrorCode | 'OK';
  readonly milliseconds: number;
  readonly at: Date;
}

export type Counts = Readonly<ReturnType<typeof noCalls>>;

function noCalls() {
  return {
    calls: 0,
    failures: 0,
    /** All calls together: divided by `calls`, the average. */
    milliseconds: 0,
    /** How many calls ended with each error code. */
    errors: new Map<string, number>(),
  };
}

type Sum = ReturnType<typeof noCalls>;

/** Different things that are counted at once; more are left out until the counts have been stored. */
const MAX_COUNTED = 5000;

const MINUTE_MILLISECONDS = 60_000;

/** The counts that an instance has not yet stored. */
export type Tally = ReturnType<CallCounter['empty']>;

/** Adds up the calls of one instance, until they are stored. */
export class CallCounter {
  private minutes = new Map<number, { minute: Date; all: Sum; tools: Map<string, Sum> }>();
  /** `since` is the first of an agent's calls. */
  private agents = new Map<string, Sum & { since: Date }>();
  private size = 0;

  get isEmpty(): boolean {
    return this.size === 0;
  }

  add(call: EndedCall): void {
    const minute = Math.floor(call.at.getTime() / MINUTE_MILLISECONDS) * MINUTE_MILLISECONDS;
    const ofMinute = this.entry(this.minutes, minute, () => ({
      minute: new Date(minute),
      all: noCalls(),
      tools: new Map(),
    }));
    if (ofMinute === undefined) return;
    count(ofMinute.all, call);
    const ofTool = this.entry(ofMinute.tools, call.tool, noCalls);
    if (ofTool !== undefined) count(ofTool, call);
    if (call.agentId === undefined) return;
    const ofAgent = this.entry(this.agents, call.agentId, () => ({ ...noCalls(), since: call.at }));
    if (ofAgent !== undefined) count(ofAgent, call);
  }

  /** Gives what has been counted, and begins again from nothing. */
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
  if (outcome === 'OK') return;
  sum.failures += 1;
  sum.errors.set(outcome, (sum.errors.get(outcome) ?? 0) + 1);
}

/** Counts are stored at most this often by one instance. */
export const FLUSH_MILLISECONDS = 5000;

/** A caller waits no longer for counts to be stored. */
const WAIT_MILLISECONDS = 1000;

/** Where calls are counted. */
export interface MetricsLedger {
  /** Adds all of it or nothing. Takes as long as the database is away. */
  add(tally: Tally): Promise<void>;
}

/** Counts in memory, and stores the counts now and then: a write a call would cost as much as the call. */
export class CallRecorder extends Service<KernelPorts> {
  private readonly ledger: MetricsLedger;
  private readonly counter = new CallCounter();
  /** When the counts in memory are to be stored. */
  private dueAt: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> | undefined;

  constructor(ledger: MetricsLedger, ports: KernelPorts) {
    super(ports);
    this.ledger = ledger;
  }

  /**
   * Counts a call. Where counts are due to be stored, waits for that, a second at most. Never fails. An instance
   * without requests may have no processor, so that its timer does not fire: the next call then finds the counts due.
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
