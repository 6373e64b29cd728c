/** Counts of unreadable documents, at `unreadable/{path}`. `at`: last report, in milliseconds since 1970. */
import type { Database, Query } from 'firebase-admin/database';
import { core } from 'zod';
import { keyOf, nameOfKey } from '../ids.ts';
import { type Clock, DAY_MS, type Log, Service, type UnreadableDocuments } from '../ports.ts';
import type { ExpiringStore } from '../sweep.ts';
import { CircuitBreaker, keysIn, removeFound, UNREADABLE } from './database.ts';

const RECENT_MS = 3_600_000;

/** Minimum time between two reports of the same document by one instance. */
const REPORT_INTERVAL_MS = 600_000;
const UNREADABLE_TTL_MS = DAY_MS;
const MAX_REPORTED_PATHS = 1000;
const MAX_REMOVED_AT_ONCE = 500;

/** Counts documents that this version cannot read, because of a manual edit or because a newer version wrote them. */
export class DatabaseUnreadableDocuments
  extends Service<{ readonly database: () => Promise<Database>; readonly clock: Clock; readonly log: Log }>
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

  /** Removes the counts of documents that were not reported for a day. Returns the number of removed counts. */
  async expire(): Promise<number> {
    const before = this.ports.clock.now().getTime() - UNREADABLE_TTL_MS;
    return removeFound((await this.byTime()).endAt(before).limitToFirst(MAX_REMOVED_AT_ONCE));
  }

  private async byTime(): Promise<Query> {
    return (await this.ports.database()).ref(UNREADABLE).orderByChild('at');
  }
}

/** Returns an error's cause with the names of the invalid fields, but without their values. */
function causeOf(error: unknown): Readonly<Record<string, unknown>> {
  if (error instanceof core.$ZodError)
    return { fields: error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`) };
  return { problem: error instanceof Error ? error.name : typeof error };
}
