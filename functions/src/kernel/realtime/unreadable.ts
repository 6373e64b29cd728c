/** Unreadable documents at `unreadable/{path}`. `at`: last occurrence, in milliseconds since the epoch. */

import type { Database, Query } from 'firebase-admin/database';
import { core } from 'zod';
import { keyOf, nameOfKey } from '../ids.ts';
import { type Clock, DAY_MS, type Log, Service, type UnreadableDocuments } from '../ports.ts';
import type { ExpiringStore } from '../sweep.ts';
import { CircuitBreaker } from './circuitBreaker.ts';
import { keysIn, removeFound, UNREADABLE } from './database.ts';

const RECENT_MS = 3_600_000;

/** Interval after which an instance reports a document again. */
const REPORT_INTERVAL_MS = 600_000;

const UNREADABLE_TTL_MS = DAY_MS;

const MAX_REPORTED_PATHS = 1000;

const MAX_REMOVED_AT_ONCE = 500;

interface UnreadablePorts {
  readonly database: () => Promise<Database>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Counts documents that this version cannot read: edited manually, or written by a newer version. */
export class DatabaseUnreadableDocuments
  extends Service<UnreadablePorts>
  implements UnreadableDocuments, ExpiringStore
{
  readonly name = 'unreadable';
  private readonly breaker = new CircuitBreaker();
  /** Time of the last report, by path. */
  private readonly reportedAt = new Map<string, number>();

  note(path: string, error: unknown): void {
    const { database, clock, log } = this.ports;
    const now = clock.now().getTime();
    const before = this.reportedAt.get(path);
    if (before !== undefined && now - before < REPORT_INTERVAL_MS) return;
    if (before === undefined) log.error('document_unreadable', { path, ...causeOf(error) });
    if (this.reportedAt.size >= MAX_REPORTED_PATHS) this.reportedAt.clear();
    this.reportedAt.set(path, now);
    const counted = this.breaker.waitFor(async () => {
      await (await database()).ref(UNREADABLE).child(keyOf(path)).set({ at: now });
    });
    counted.catch((failure: unknown) => log.warn('unreadable_not_counted', { path, error: failure }));
  }

  async recent(): Promise<readonly string[]> {
    const now = this.ports.clock.now().getTime();
    const recent = (await this.byTime()).startAt(now - RECENT_MS).endAt(now + RECENT_MS);
    return keysIn(await recent.limitToLast(MAX_REPORTED_PATHS).get())
      .map(nameOfKey)
      .sort();
  }

  /** Removes documents that were not reported for a day. Returns their number. */
  async expire(): Promise<number> {
    const before = this.ports.clock.now().getTime() - UNREADABLE_TTL_MS;
    return removeFound((await this.byTime()).endAt(before).limitToFirst(MAX_REMOVED_AT_ONCE));
  }

  private async byTime(): Promise<Query> {
    return (await this.ports.database()).ref(UNREADABLE).orderByChild('at');
  }
}

/** Returns the names of the invalid fields, but not their values. */
function causeOf(error: unknown): Readonly<Record<string, unknown>> {
  if (error instanceof core.$ZodError)
    return { fields: error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`) };
  return { problem: error instanceof Error ? error.name : typeof error };
}
