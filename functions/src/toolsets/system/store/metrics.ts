/** Reads the call counts of all instances, and measures this instance. */
import type { Firestore } from '@google-cloud/firestore';
import type { Database } from 'firebase-admin/database';
import { z } from 'zod';
import { sweepPath } from '../../../kernel/firestore/paths.ts';
import { nameOfKey } from '../../../kernel/ids.ts';
import { type Log, Service, type UnreadableDocuments } from '../../../kernel/ports.ts';
import { METRICS_MINUTES, minuteKey, timeOfMinuteKey } from '../../../kernel/realtime/database.ts';
import { type SweepState, sweepFromDocument, sweepToDocument } from '../../../kernel/sweep.ts';
import type { Counts } from '../../../limits/rules/callMetrics.ts';
import type { CallsBetween, MetricsReader, SweepRecord } from '../rules/ports.ts';

export const storedCounts = z.object({
  calls: z.number(),
  failures: z.number().default(0),
  milliseconds: z.number().default(0),
  errors: z
    .record(z.string(), z.number())
    .default({})
    .transform((counts) => new Map(Object.entries(counts))),
});

/** The counts in a minute's record are parsed separately, so that one invalid count does not affect the others. */
export const storedMinute = z.object({ all: z.unknown(), tools: z.record(z.string(), z.unknown()).default({}) });

export class DatabaseMetricsReader
  extends Service<{ readonly database: () => Promise<Database>; readonly unreadable: UnreadableDocuments }>
  implements MetricsReader
{
  async between(from: Date, to: Date): Promise<CallsBetween> {
    const byMinute = (await this.ports.database()).ref(METRICS_MINUTES).orderByKey();
    const found = await byMinute.startAt(minuteKey(from)).endAt(minuteKey(to)).get();
    let all = NOTHING;
    const tools = new Map<string, Counts & { readonly lastUsed: Date }>();
    found.forEach((snapshot) => {
      const path = `${METRICS_MINUTES}/${snapshot.key}`;
      const minute = this.readable(path, snapshot.val(), storedMinute);
      if (minute?.all !== undefined) all = plus(all, this.readable(`${path}/all`, minute.all, storedCounts));
      for (const [toolKey, stored] of Object.entries(minute?.tools ?? {})) {
        const counts = this.readable(`${path}/tools/${toolKey}`, stored, storedCounts);
        if (counts === undefined) continue;
        const tool = nameOfKey(toolKey);
        const lastUsed = timeOfMinuteKey(String(snapshot.key));
        tools.set(tool, { ...plus(tools.get(tool) ?? NOTHING, counts), lastUsed });
      }
    });
    return { all, tools };
  }

  /** Returns the parsed value; undefined if it is invalid, which is also recorded. */
  private readable<Read>(path: string, value: unknown, schema: z.ZodType<Read>): Read | undefined {
    const { data, error } = schema.safeParse(value);
    if (error !== undefined) this.ports.unreadable.note(path, error);
    return data;
  }
}

const NOTHING: Counts = { calls: 0, failures: 0, milliseconds: 0, errors: new Map() };

function plus(one: Counts, other: Counts = NOTHING): Counts {
  const errors = new Map(one.errors);
  for (const [code, count] of other.errors) errors.set(code, (errors.get(code) ?? 0) + count);
  return {
    calls: one.calls + other.calls,
    failures: one.failures + other.failures,
    milliseconds: one.milliseconds + other.milliseconds,
    errors,
  };
}

/** Measures this process, which is the only one of its instance. */
export class ProcessGauge {
  private last = { at: 0, microseconds: 0 };

  /** Returns the resident memory, and the CPU usage since the previous call, in percent of one processor. */
  measure() {
    const { user, system } = process.cpuUsage();
    const now = { at: process.uptime(), microseconds: user + system };
    const busySeconds = (now.microseconds - this.last.microseconds) / 1e6;
    const seconds = Math.max(now.at - this.last.at, 0.001);
    this.last = now;
    return {
      uptimeSeconds: Math.floor(now.at),
      memoryMebibytes: oneDecimal(process.memoryUsage.rss() / 1024 ** 2),
      cpuPercent: oneDecimal((100 * busySeconds) / seconds),
    };
  }

  /** Returns the versions of Node.js and its libraries, by name such as `node`. */
  versions(): Readonly<Record<string, string>> {
    const { node = '', v8 = '', uv = '', openssl = '' } = process.versions;
    return { node, v8, uv, openssl };
  }
}

function oneDecimal(value: number): number {
  return Math.round(value * 10) / 10;
}

/** State of the sweep with the name `sweep`. Sweeps with different names have separate records. */
export class FirestoreSweepRecord
  extends Service<{ readonly database: Firestore; readonly sweep: string; readonly log: Log }>
  implements SweepRecord
{
  async read(): Promise<SweepState> {
    const snapshot = await this.document.get();
    try {
      return sweepFromDocument(snapshot.data() ?? {});
    } catch (error) {
      this.ports.log.error('sweep_record_unreadable', { document: snapshot.ref.path, error });
      // If the record is invalid after a manual edit, the sweep starts without the record and overwrites it.
      return { behind: {} };
    }
  }

  async saveOutage(outage: SweepState['outage'] | undefined): Promise<void> {
    await this.save('outage', { ...(outage && { outage }), behind: {} });
  }

  async saveBehind(behind: SweepState['behind']): Promise<void> {
    await this.save('behind', { behind });
  }

  /** Sweeps can overlap. The last write of a field wins, and the other fields stay unchanged. */
  private async save(field: keyof SweepState, state: SweepState): Promise<void> {
    await this.document.set({ [field]: sweepToDocument(state)[field] }, { mergeFields: [field] });
  }

  private get document() {
    return this.ports.database.doc(sweepPath(this.ports.sweep));
  }
}
