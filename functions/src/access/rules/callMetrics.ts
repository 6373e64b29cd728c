/** What is counted of calls, and how an instance gathers it before it is written. */
import type { ErrorCode } from '../../kernel/errors.ts';
import type { KernelPorts } from '../../kernel/ports.ts';
import { inTime } from '../../kernel/waiting.ts';

/** Different things that are counted at once; more are left out until the counts have been stored. */
const MAX_COUNTED = 5000;

const MINUTE_MILLISECONDS = 60_000;

/** Adds up the calls of one instance, until they are stored. */
export class CallCounter {
  private readonly minutes = new Map<number, { all: Sum; tools: Map<string, Sum> }>();
  private readonly agents = new Map<string, Sum & { since: Date }>();
  private size = 0;

  get isEmpty(): boolean {
    return this.size === 0;
  }

  add(call: EndedCall): void {
    const minute = Math.floor(call.at.getTime() / MINUTE_MILLISECONDS) * MINUTE_MILLISECONDS;
    const ofMinute = this.entry(this.minutes, minute, () => ({ all: newSum(), tools: new Map() }));
    if (ofMinute === undefined) return;
    count(ofMinute.all, call);
    const ofTool = this.entry(ofMinute.tools, call.tool, newSum);
    if (ofTool !== undefined) count(ofTool, call);
    if (call.agentId === undefined) return;
    const ofAgent = this.entry(this.agents, call.agentId, () => ({ ...newSum(), since: call.at }));
    if (ofAgent !== undefined) count(ofAgent, call);
  }

  /** Gives what has been counted, and begins again from nothing. */
  empty(): Tally {
    const minutes = [...this.minutes].map(
      ([minute, counts]): MinuteCounts => ({ minute: new Date(minute), ...counts }),
    );
    const agents = new Map<string, AgentCounts>(this.agents);
    this.minutes.clear();
    this.agents.clear();
    this.size = 0;
    return { minutes, agents };
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

interface Sum extends Counts {
  calls: number;
  failures: number;
  milliseconds: number;
  errors: Map<string, number>;
}

function newSum(): Sum {
  return { calls: 0, failures: 0, milliseconds: 0, errors: new Map() };
}

function count(sum: Sum, { outcome, milliseconds }: EndedCall): void {
  sum.calls += 1;
  sum.milliseconds += milliseconds;
  if (outcome === 'OK') return;
  sum.failures += 1;
  sum.errors.set(outcome, (sum.errors.get(outcome) ?? 0) + 1);
}

// What is counted of the calls, for whoever runs the deployment. Source: spec/network.md, "Monitoring".

/** One call that has ended. */
export interface EndedCall {
  /** The tool's full name, `coordination.create_task`, or the URI of a resource as its toolset lists it. */
  readonly tool: string;
  readonly agentId?: string;
  readonly outcome: ErrorCode | 'OK';
  readonly milliseconds: number;
  readonly at: Date;
}

export interface CallMetrics {
  /** Counts a call. Where counts are due to be stored, waits for that, a second at most. Never fails. */
  record(call: EndedCall): Promise<void> | undefined;
}

export interface Counts {
  readonly calls: number;
  readonly failures: number;
  /** All calls together: divided by `calls`, the average. */
  readonly milliseconds: number;
  /** How many calls ended with each error code. */
  readonly errors: ReadonlyMap<string, number>;
}

interface AgentCounts extends Counts {
  /** The first of the calls. */
  readonly since: Date;
}

interface MinuteCounts {
  /** The minute's beginning. */
  readonly minute: Date;
  readonly all: Counts;
  readonly tools: ReadonlyMap<string, Counts>;
}

/** What an instance has counted and not yet stored. */
export interface Tally {
  readonly minutes: readonly MinuteCounts[];
  readonly agents: ReadonlyMap<string, AgentCounts>;
}

/** Where the counts of all instances add up: `metrics` in the Realtime Database. */
export interface MetricsLedger {
  /** Adds all of it or nothing. Takes as long as the database is away. */
  add(tally: Tally): Promise<void>;
}

export interface ToolCounts extends Counts {
  /** The last minute in which it was called. */
  readonly lastUsed: Date;
}

export interface CallHistory {
  readonly all: Counts;
  /** By full name, `coordination.create_task`; only those that were called. */
  readonly tools: ReadonlyMap<string, ToolCounts>;
}

// Counts in memory, and stores the counts now and then: a write a call would cost as much as the call.

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
