/**
 * What access keeps in the Realtime Database: rate limits, counts of calls, presence. Buckets of the rate limits are
 * `limits/{uid}` = `{tokens, at}`, `at` in milliseconds of the epoch.
 */

import type { Database, DataSnapshot } from 'firebase-admin/database';
import { BoundedMap } from '../../kernel/memoCache.ts';
import type { Position } from '../../kernel/paging.ts';
import type { Clock, Presence } from '../../kernel/ports.ts';
import {
  agentMetricsPath,
  CircuitBreaker,
  changeNode,
  checkPath,
  keyOf,
  LIMITS,
  limitPath,
  METRICS_MINUTES,
  minuteKey,
  minuteMetricsPath,
  PRESENCE,
  presencePath,
  probeRealtimeDatabase,
  removeFound,
  stillAway,
} from '../../kernel/realtime/database.ts';
import type { Expiring } from '../../kernel/sweep.ts';
import { inTime } from '../../kernel/waiting.ts';
import type { Counts, MetricsLedger, Tally } from '../rules/callMetrics.ts';
import {
  type Bucket,
  type Draw,
  draw,
  type Lease,
  type LimitLedger,
  type RateLimit,
} from '../rules/rateLimiter.ts';

abstract class RealtimeStore {
  protected readonly database: () => Promise<Database>;
  protected readonly clock: Clock;

  constructor(database: () => Promise<Database>, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }
}

/** A bucket that nobody has drawn from for a day is full, as one is that does not exist. */
const IDLE_MILLISECONDS = 24 * 3_600_000;

const LIMITS_REMOVED_AT_ONCE = 500;

/** How long a call is held up by its limit. */
const LEASE_MILLISECONDS = 1000;

export class DatabaseLimitLedger extends RealtimeStore implements LimitLedger, Expiring {
  readonly name = 'limits';
  /** With the database itself: a bucket that many fight for says nothing about the others. */
  private readonly breaker = new CircuitBreaker();
  private probing: Promise<void> | undefined;

  async lease(uid: string, limit: RateLimit, wanted: Draw): Promise<Lease> {
    if (this.breaker.isOverdue) throw stillAway();
    const late = new AbortController();
    try {
      const leasing = this.transact(uid, limit, wanted, late.signal);
      return await inTime(leasing, LEASE_MILLISECONDS, 'The bucket');
    } catch (error) {
      late.abort();
      this.findOutWhetherAway();
      throw error;
    }
  }

  /** Nobody waits for this. While it is not answered nobody waits for a lease either. */
  private findOutWhetherAway(): void {
    this.probing ??= this.breaker
      .waitFor(() => probeRealtimeDatabase(this.database))
      .catch(() => undefined)
      .finally(() => {
        this.probing = undefined;
      });
  }

  /** Removes buckets that have long been full again. Tells how many. */
  async expire(): Promise<number> {
    const database = await this.database();
    const before = this.clock.now().getTime() - IDLE_MILLISECONDS;
    return removeFound(
      database.ref(LIMITS).orderByChild('at').endAt(before).limitToFirst(LIMITS_REMOVED_AT_ONCE),
    );
  }

  private async transact(uid: string, limit: RateLimit, wanted: Draw, late: AbortSignal): Promise<Lease> {
    const reference = (await this.database()).ref(limitPath(uid));
    let lease: Lease | undefined;
    const charge = (stored: unknown): Bucket | undefined => {
      if (late.aborted) return undefined;
      const { bucket, ...rest } = draw(bucketIn(stored), limit, wanted, this.clock.now().getTime());
      lease = rest;
      return bucket;
    };
    const { committed } = await reference.transaction(charge, undefined, false);
    if (!committed || lease === undefined) throw new Error('The lease came too late.');
    return lease;
  }
}

/** What somebody has broken by hand counts as a bucket that nobody has drawn from. */
export function bucketIn(value: unknown): Bucket | undefined {
  const isBucket = typeof value === 'object' && value !== null && 'tokens' in value && 'at' in value;
  if (!isBucket || typeof value.tokens !== 'number' || typeof value.at !== 'number') return undefined;
  return { tokens: value.tokens, at: value.at };
}

// The counts of calls: `metrics/minutes/{yyyyMMddHHmm}/all` and `…/tools/{tool}`, kept for a day, and
// `metrics/agents/{agentId}`, kept. Each is `{calls, failures, milliseconds, errors: {[code]: count}}`; an
// agent's also has `since`, in milliseconds of the epoch.

const KEPT_MILLISECONDS = 24 * 3_600_000;

const METRICS_REMOVED_AT_ONCE = 100;

const MAX_REMEMBERED_AGENTS = 10_000;

export class DatabaseMetricsLedger extends RealtimeStore implements MetricsLedger, Expiring {
  readonly name = 'metrics';
  /** Agents whose `since` is known to be there. */
  private readonly begun = new Set<string>();

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
        .limitToFirst(METRICS_REMOVED_AT_ONCE),
    );
  }

  private async begin(database: Database, agentId: string, since: Date): Promise<void> {
    if (this.begun.has(agentId)) return;
    const reference = database.ref(`${agentMetricsPath(agentId)}/since`);
    await changeNode(reference, (stored) => (stored === null ? since.getTime() : undefined));
    if (this.begun.size >= MAX_REMEMBERED_AGENTS) this.begun.clear();
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

// Presence in the Realtime Database: `presence/{agentId}` = `{last_seen}`, milliseconds of the epoch.

/** An instance writes an agent's presence at most this often. */
const TOUCH_MILLISECONDS = 500;

const MAX_REMEMBERED_TOUCHES = 10_000;

export class DatabasePresence extends RealtimeStore implements Presence {
  private readonly breaker = new CircuitBreaker();
  private readonly touched = new BoundedMap<string, number>(MAX_REMEMBERED_TOUCHES);

  async touch(agentId: string): Promise<void> {
    const now = this.clock.now().getTime();
    const last = this.touched.get(agentId);
    if (last !== undefined && now - last < TOUCH_MILLISECONDS) return;
    this.touched.set(agentId, now);
    const write = () =>
      this.database().then((database) => database.ref(presencePath(agentId)).set({ last_seen: now }));
    await this.breaker.waitFor(write).catch((error: unknown) => {
      this.touched.delete(agentId);
      throw error;
    });
  }

  async lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const database = await this.database();
    const seen = await Promise.all(
      agentIds.map(async (agentId) => {
        const at = lastSeenOf(await database.ref(presencePath(agentId)).get());
        return at === undefined ? [] : [[agentId, at] as const];
      }),
    );
    return new Map(seen.flat());
  }

  async unseenSince(before: Date, limit: number, after?: Position): Promise<ReadonlyMap<string, Date>> {
    const database = await this.database();
    const all = database.ref(PRESENCE).orderByChild('last_seen').endAt(before.getTime());
    const rest = after === undefined ? all : all.startAfter(after.at.getTime(), after.id);
    const unseen = await rest.limitToFirst(limit).get();
    const found = new Map<string, Date>();
    unseen.forEach((child) => {
      found.set(child.key, lastSeenOf(child) ?? new Date(0));
    });
    return found;
  }

  async forget(agentId: string, before: Date): Promise<boolean> {
    const database = await this.database();
    return changeNode(database.ref(presencePath(agentId)), (current) =>
      lastSeenIn(current) > before.getTime() ? undefined : null,
    );
  }

  async check(): Promise<void> {
    const database = await this.database();
    // Both: a database may be read that takes no writes.
    const node = database.ref(checkPath('presence'));
    await node.set({ at: this.clock.now().getTime() });
    await node.get();
  }
}

function lastSeenOf(snapshot: DataSnapshot): Date | undefined {
  return snapshot.exists() ? new Date(lastSeenIn(snapshot.val())) : undefined;
}

/** The last moment that a date can be. */
const LAST_MOMENT = 8.64e15;

/** In milliseconds of the epoch; 0 where it does not say. */
export function lastSeenIn(value: unknown): number {
  const isObject = typeof value === 'object' && value !== null;
  const at = isObject && 'last_seen' in value ? value.last_seen : 0;
  return typeof at === 'number' && Math.abs(at) <= LAST_MOMENT ? at : 0;
}
