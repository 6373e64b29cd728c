/** Reads the counts of calls that metricsLedger.ts stores. */
import type { Database } from 'firebase-admin/database';
import { z } from 'zod';
import type { Counts } from '../../domain/metrics/metrics.ts';
import type { CallHistory, MetricsReader, ToolCounts } from '../../domain/metrics/recentCalls.ts';
import { METRICS_MINUTES, minuteKey, nameOfKey, timeOfMinuteKey } from './paths.ts';

const storedCounts = z.object({
  calls: z.number(),
  failures: z.number().default(0),
  milliseconds: z.number().default(0),
  errors: z.record(z.string(), z.number()).default({}),
});

const storedMinute = z.object({
  all: storedCounts.optional(),
  tools: z.record(z.string(), storedCounts).default({}),
});

const storedMinutes = z.record(z.string(), storedMinute).nullable();

export class DatabaseMetricsReader implements MetricsReader {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async between(from: Date, to: Date): Promise<CallHistory> {
    const database = await this.database();
    const byMinute = database.ref(METRICS_MINUTES).orderByKey();
    const found = await byMinute.startAt(minuteKey(from)).endAt(minuteKey(to)).get();
    const minutes = Object.entries(storedMinutes.parse(found.val()) ?? {});
    let all = NOTHING;
    const tools = new Map<string, ToolCounts>();
    for (const [key, minute] of minutes) {
      if (minute.all !== undefined) all = plus(all, countsOf(minute.all));
      for (const [toolKey, counts] of Object.entries(minute.tools)) {
        const tool = nameOfKey(toolKey);
        const sum = plus(tools.get(tool) ?? NOTHING, countsOf(counts));
        tools.set(tool, { ...sum, lastUsed: timeOfMinuteKey(key) });
      }
    }
    return { all, tools };
  }
}

const NOTHING: Counts = { calls: 0, failures: 0, milliseconds: 0, errors: new Map() };

function countsOf({ errors, ...counts }: z.output<typeof storedCounts>): Counts {
  return { ...counts, errors: new Map(Object.entries(errors)) };
}

function plus(one: Counts, other: Counts): Counts {
  const errors = new Map(one.errors);
  for (const [code, count] of other.errors) errors.set(code, (errors.get(code) ?? 0) + count);
  return {
    calls: one.calls + other.calls,
    failures: one.failures + other.failures,
    milliseconds: one.milliseconds + other.milliseconds,
    errors,
  };
}
