import type { AgentCounts, Counts, EndedCall, MinuteCounts, Tally } from './metrics.ts';

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
