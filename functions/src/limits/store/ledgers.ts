/** Storage of rate limits and call counts in the Realtime Database. */
import type { Database } from 'firebase-admin/database';
import { z } from 'zod';
import { withTimeout } from '../../kernel/concurrency.ts';
import { keyOf } from '../../kernel/ids.ts';
import { type Clock, DAY_MS, Service } from '../../kernel/ports.ts';
import * as realtime from '../../kernel/realtime/database.ts';
import type { ExpiringStore } from '../../kernel/sweep.ts';
import type { MetricsLedger, RecordedCounts, Tally } from '../rules/callMetrics.ts';
import { type Bucket, type Draw, draw, type Lease, type LimitLedger, type RateLimit } from '../rules/rateLimiter.ts';

interface LedgerPorts {
  readonly database: () => Promise<Database>;
  readonly clock: Clock;
}

/** An unused bucket is deleted after this time. It is full by then, and a missing bucket counts as full. */
const IDLE_TTL_MS = DAY_MS;
const LIMIT_REMOVAL_BATCH = 500;

/** Maximum time that a call waits for a lease, in milliseconds. */
const LEASE_TIMEOUT_MS = 1000;

/** Buckets of the rate limits: `limits/{uid}` = `{tokens, at}`. `at` is in milliseconds since the epoch. */
export class DatabaseLimitLedger extends Service<LedgerPorts> implements LimitLedger, ExpiringStore {
  readonly name = 'limits';
  /** Opens if the database is unreachable. Concurrent changes of a single bucket do not open the breaker. */
  private readonly breaker = new realtime.CircuitBreaker();
  private probing: Promise<void> | undefined;

  async lease(uid: string, limit: RateLimit, wanted: Draw): Promise<Lease> {
    this.breaker.requireClosed();
    const late = new AbortController();
    try {
      const leasing = this.transact(uid, limit, wanted, late.signal);
      return await withTimeout(leasing, LEASE_TIMEOUT_MS, 'The bucket');
    } catch (error) {
      late.abort();
      this.probeAvailability();
      throw error;
    }
  }

  /** Probes the database in the background. Leases fail immediately until the database responds. */
  private probeAvailability(): void {
    this.probing ??= this.breaker
      .waitFor(() => realtime.probeRealtimeDatabase(this.ports.database))
      .catch(() => undefined)
      .finally(() => {
        this.probing = undefined;
      });
  }

  /** Deletes buckets that have been full for long. @returns the number of deleted buckets */
  async expire(): Promise<number> {
    const database = await this.ports.database();
    const before = this.ports.clock.now().getTime() - IDLE_TTL_MS;
    return realtime.removeFound(
      database.ref(realtime.LIMITS).orderByChild('at').endAt(before).limitToFirst(LIMIT_REMOVAL_BATCH),
    );
  }

  private async transact(uid: string, limit: RateLimit, wanted: Draw, late: AbortSignal): Promise<Lease> {
    const reference = (await this.ports.database()).ref(realtime.limitPath(uid));
    let lease: Lease | undefined;
    const charge = (stored: unknown): Bucket | undefined => {
      if (late.aborted) return undefined;
      const { bucket, ...rest } = draw(bucketIn(stored), limit, wanted, this.ports.clock.now().getTime());
      lease = rest;
      return bucket;
    };
    const { committed } = await reference.transaction(charge, undefined, false);
    if (!committed || lease === undefined) throw new Error('The lease timed out.');
    return lease;
  }
}

const storedBucket = z.object({ tokens: z.number(), at: z.number() });

/** Parses a stored bucket. An invalid bucket counts as unused. */
export function bucketIn(value: unknown): Bucket | undefined {
  return storedBucket.safeParse(value).data;
}

/** Nodes with counts per time, the function that makes their keys, and the time for which they are kept. */
const KEPT_METRICS = [
  [realtime.METRICS_MINUTES, realtime.minuteKey, DAY_MS],
  [realtime.METRICS_DAYS, realtime.dayKey, 30 * DAY_MS],
] as const;
const METRICS_REMOVAL_BATCH = 100;
const MAX_CACHED_AGENTS = 10_000;

/**
 * Call counts. `metrics/minutes/{yyyyMMddHHmm}/all` and `…/tools/{tool}` are kept for a day, the same below
 * `metrics/days/{yyyyMMdd}` for 30 days, and `metrics/agents/{agentId}` as long as the agent. Each is
 * `{calls, failures, milliseconds, errors, latencies}`; `errors` counts by code, and `latencies` by bucket. Counts of
 * an agent also have `since`, in milliseconds since the epoch. A day also has `dollars`: the cost of tasks and runs.
 */
export class DatabaseMetricsLedger extends Service<LedgerPorts> implements MetricsLedger, ExpiringStore {
  readonly name = 'metrics';
  /** Ids of the agents whose `since` is known to be stored. */
  private readonly datedAgents = new Set<string>();

  async add(tally: Tally): Promise<void> {
    const [database, { ServerValue }] = await Promise.all([this.ports.database(), import('firebase-admin/database')]);
    // Several minutes may belong to one day.
    const sums = new Map<string, number>();
    for (const [path, by] of incrementsOf(tally)) sums.set(path, (sums.get(path) ?? 0) + by);
    const increments = [...sums].map(([path, by]) => [path, ServerValue.increment(by)]);
    await Promise.all([
      database.ref().update(Object.fromEntries(increments)),
      ...[...tally.agents].map(([agentId, { since }]) => this.storeSince(database, agentId, since)),
    ]);
  }

  async addCost(dollars: number): Promise<void> {
    const [database, { ServerValue }] = await Promise.all([this.ports.database(), import('firebase-admin/database')]);
    await database
      .ref(realtime.dayMetricsPath(this.ports.clock.now()))
      .update({ dollars: ServerValue.increment(dollars) });
  }

  /** Deletes old counts of minutes and days. @returns the number of deleted minutes and days */
  async expire(): Promise<number> {
    const database = await this.ports.database();
    const now = this.ports.clock.now().getTime();
    const removed = KEPT_METRICS.map(([node, keyOfTime, ttl]) => {
      const before = keyOfTime(new Date(now - ttl));
      return realtime.removeFound(
        database.ref(node).orderByKey().endBefore(before).limitToFirst(METRICS_REMOVAL_BATCH),
      );
    });
    return (await Promise.all(removed)).reduce((sum, one) => sum + one);
  }

  /** Deletes the counts of agents that were deleted. */
  async forget(agentIds: readonly string[]): Promise<void> {
    if (agentIds.length === 0) return;
    const database = await this.ports.database();
    await database.ref().update(Object.fromEntries(agentIds.map((id) => [realtime.agentMetricsPath(id), null])));
    for (const id of agentIds) this.datedAgents.delete(id);
  }

  private async storeSince(database: Database, agentId: string, since: Date): Promise<void> {
    if (this.datedAgents.has(agentId)) return;
    const reference = database.ref(`${realtime.agentMetricsPath(agentId)}/since`);
    await realtime.changeNode(reference, (stored) => (stored === null ? since.getTime() : undefined));
    if (this.datedAgents.size >= MAX_CACHED_AGENTS) this.datedAgents.clear();
    this.datedAgents.add(agentId);
  }
}

function* incrementsOf({ minutes, agents }: Tally): Generator<readonly [path: string, by: number]> {
  for (const { minute, all, tools } of minutes)
    for (const path of [realtime.minuteMetricsPath(minute), realtime.dayMetricsPath(minute)]) {
      yield* countsAt(`${path}/all`, all);
      for (const [tool, counts] of tools) yield* countsAt(`${path}/tools/${keyOf(tool)}`, counts);
    }
  for (const [agentId, counts] of agents) yield* countsAt(realtime.agentMetricsPath(agentId), counts);
}

function* countsAt(path: string, { calls, failures, milliseconds, errors, latencies }: RecordedCounts) {
  yield [`${path}/calls`, calls] as const;
  yield [`${path}/failures`, failures] as const;
  yield [`${path}/milliseconds`, milliseconds] as const;
  for (const [code, count] of errors) yield [`${path}/errors/${code}`, count] as const;
  for (const [bucket, count] of latencies) yield [`${path}/latencies/${bucket}`, count] as const;
}
