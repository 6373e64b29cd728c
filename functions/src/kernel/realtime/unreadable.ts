/**
 * `unreadable/{path}`: the stored documents that some instance could not read, `at` being when one last met it, in
 * milliseconds of the epoch. One that is mended is met no more, and forgotten.
 */

import type { Database, Query } from 'firebase-admin/database';
import { ZodError } from 'zod';
import type { Clock, Log, UnreadableDocuments } from '../ports.ts';
import type { Expiring } from '../sweep.ts';
import { CircuitBreaker, keyOf, nameOfKey, removeFound, UNREADABLE } from './database.ts';

const RECENT_MILLISECONDS = 3_600_000;

/** An instance tells of a document again after so long. */
const TOLD_EVERY_MILLISECONDS = 600_000;

const KEPT_MILLISECONDS = 24 * 3_600_000;

const MAX_REMEMBERED = 1000;

const MAX_REMOVED_AT_ONCE = 500;

export class DatabaseUnreadable implements UnreadableDocuments, Expiring {
  readonly name = 'unreadable';
  private readonly database: () => Promise<Database>;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly patience = new CircuitBreaker();
  /** When each was told of last. */
  private readonly told = new Map<string, number>();

  constructor(database: () => Promise<Database>, clock: Clock, log: Log) {
    this.database = database;
    this.clock = clock;
    this.log = log;
  }

  note(path: string, error: unknown): void {
    const now = this.clock.now().getTime();
    const before = this.told.get(path);
    if (before !== undefined && now - before < TOLD_EVERY_MILLISECONDS) return;
    if (before === undefined) this.log.error('document_unreadable', { path, ...whatIsWrong(error) });
    if (this.told.size >= MAX_REMEMBERED) this.told.clear();
    this.told.set(path, now);
    this.store(path, now).catch((failure: unknown) => {
      this.log.warn('unreadable_not_counted', { path, error: failure });
    });
  }

  async recent(): Promise<readonly string[]> {
    const now = this.clock.now().getTime();
    const recent = (await this.byTime()).startAt(now - RECENT_MILLISECONDS).endAt(now + RECENT_MILLISECONDS);
    const found: string[] = [];
    (await recent.limitToLast(MAX_REMEMBERED).get()).forEach((child) => {
      found.push(nameOfKey(child.key));
    });
    return found.sort();
  }

  /** Removes those that nobody has met for a day. Tells how many. */
  async expire(): Promise<number> {
    const before = this.clock.now().getTime() - KEPT_MILLISECONDS;
    return removeFound((await this.byTime()).endAt(before).limitToFirst(MAX_REMOVED_AT_ONCE));
  }

  private async byTime(): Promise<Query> {
    return (await this.database()).ref(UNREADABLE).orderByChild('at');
  }

  private async store(path: string, at: number): Promise<void> {
    await this.patience.waitFor(async () => {
      await (await this.database()).ref(UNREADABLE).child(keyOf(path)).set({ at });
    });
  }
}

/** Which fields are wrong, and not what they hold. */
function whatIsWrong(error: unknown): Readonly<Record<string, unknown>> {
  if (error instanceof ZodError)
    return { fields: error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`) };
  return { problem: error instanceof Error ? error.name : typeof error };
}
