/**
 * The counts of calls: `metrics/minutes/{yyyyMMddHHmm}/all` and `…/tools/{tool}`, kept for a day, and
 * `metrics/agents/{agentId}`, kept. Each is `{calls, failures, milliseconds, errors: {[code]: count}}`;
 * an agent's also has `since`, in milliseconds of the epoch.
 */
import type { Database } from 'firebase-admin/database';
import type { Counts, MetricsLedger, Tally } from '../../domain/metrics/metrics.ts';
import type { Clock } from '../../domain/ports.ts';
import type { Expiring } from '../../domain/sweep/part.ts';
import { removeFound } from './expiry.ts';
import { agentMetricsPath, keyOf, METRICS_MINUTES, minuteKey, minuteMetricsPath } from './paths.ts';
import { changeNode } from './transactions.ts';

const KEPT_MILLISECONDS = 24 * 3_600_000;

const MAX_REMOVED_AT_ONCE = 100;

const MAX_REMEMBERED = 10_000;

export class DatabaseMetricsLedger implements MetricsLedger, Expiring {
  readonly name = 'metrics';
  private readonly database: () => Promise<Database>;
  private readonly clock: Clock;
  /** Agents whose `since` is known to be there. */
  private readonly begun = new Set<string>();

  constructor(database: () => Promise<Database>, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  async add(tally: Tally): Promise<void> {
    const [database, { ServerValue }] = await Promise.all([
      this.database(),
      import('firebase-admin/database'),
    ]);
    const increments = [...incrementsOf(tally)].map(([path, by]) => [path, ServerValue.increment(by)]);
    await Promise.all([
      database.ref().update(Object.fromEntries(increments)),
      ...[...tally.agents].map(([agentId, { since }]) => this.begin(database, agentId, since)),
    ]);
  }

  /** Removes minutes of more than a day ago. Tells how many. */
  async expire(): Promise<number> {
    const database = await this.database();
    const before = new Date(this.clock.now().getTime() - KEPT_MILLISECONDS);
    return removeFound(
      database
        .ref(METRICS_MINUTES)
        .orderByKey()
        .endBefore(minuteKey(before))
        .limitToFirst(MAX_REMOVED_AT_ONCE),
    );
  }

  private async begin(database: Database, agentId: string, since: Date): Promise<void> {
    if (this.begun.has(agentId)) return;
    const reference = database.ref(`${agentMetricsPath(agentId)}/since`);
    await changeNode(reference, (stored) => (stored === null ? since.getTime() : undefined));
    if (this.begun.size >= MAX_REMEMBERED) this.begun.clear();
    this.begun.add(agentId);
  }
}

function* incrementsOf({ minutes, agents }: Tally): Generator<readonly [path: string, by: number]> {
  for (const { minute, all, tools } of minutes) {
    const path = minuteMetricsPath(minute);
    yield* countsAt(`${path}/all`, all);
    for (const [tool, counts] of tools) yield* countsAt(`${path}/tools/${keyOf(tool)}`, counts);
  }
  for (const [agentId, counts] of agents) yield* countsAt(agentMetricsPath(agentId), counts);
}

function* countsAt(path: string, { calls, failures, milliseconds, errors }: Counts) {
  yield [`${path}/calls`, calls] as const;
  yield [`${path}/failures`, failures] as const;
  yield [`${path}/milliseconds`, milliseconds] as const;
  for (const [code, count] of errors) yield [`${path}/errors/${code}`, count] as const;
}
