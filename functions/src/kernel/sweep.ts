/** Jobs of the sweep, the scheduled cleanup. Jobs run separately, so that a failed job stops no other job. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from './documentCodec.ts';
import { chunksOf, type SweepBatch, type TimeCursor } from './paging.ts';
import { DAY_MS } from './ports.ts';

/** Whether last-seen times can be trusted. `away`: no. `back`: not yet, because the database has just recovered. */
export type PresenceHealth = 'trusted' | 'back' | 'away';

export interface SweepContext {
  readonly now: Date;
  /** Position at which the previous run of the job stopped; undefined if that run finished. */
  readonly from: TimeCursor | undefined;
  /** Whether last-seen times can be trusted. The promise never rejects. */
  readonly presence: Promise<PresenceHealth>;
  /** Returns whether the job must stop now and report its position. */
  isOver(): boolean;
}

export interface SweepReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly isBehind: boolean;
  /** Position at which the next run resumes; if absent, the next run starts at the beginning. */
  readonly stoppedAt?: TimeCursor | undefined;
}

export interface SweepJob {
  /** Name of the job in the log and in the sweep's stored state. */
  readonly name: string;
  /** Name of a job that comes before this job in the list, and must finish before this job starts. */
  readonly after?: string;
  /** Runs the job. It must be safe to run twice, late, or in two instances at the same time. */
  run(turn: SweepContext): Promise<SweepReport>;
}

export interface ExpiringStore {
  /** Name of the data in the log. */
  readonly name: string;
  /** Removes a limited number of expired items, and returns how many were removed: 0 if none are left. */
  expire(): Promise<number>;
}

/** Returns a job that removes expired items until none are left or the job's time is over. */
export function expiryJob(expiring: ExpiringStore): SweepJob {
  return {
    name: expiring.name,
    run: async ({ isOver }) => {
      let expired = 0;
      for (;;) {
        const removed = await expiring.expire();
        expired += removed;
        if (removed === 0 || isOver()) return { counts: { expired }, isBehind: removed > 0 };
      }
    },
  };
}

/** Retention period by kind of data, in days; 0 keeps data forever. */
export type RetentionDays = Readonly<
  Record<'events' | 'trail' | 'logs' | 'runs' | 'tasks', number> & { agents?: number }
>;

/**
 * Returns a job that removes the items that ended more than `days` days ago; 0 disables the job. The job starts once
 * per hour, because each query costs money. Once started, it continues every minute until it has finished.
 * @param remove removes the items that ended before the given time
 */
export function retentionJob(
  name: string,
  days: number,
  remove: (before: Date, turn: SweepContext) => Promise<SweepReport>,
): SweepJob {
  return {
    name,
    run: async (turn) => {
      const isDue = turn.from !== undefined || turn.now.getUTCMinutes() === 0;
      if (days <= 0 || !isDue) return { counts: {}, isBehind: false };
      return remove(new Date(turn.now.getTime() - days * DAY_MS), turn);
    },
  };
}

/** Number of items in progress at the same time. Each item mostly waits for its own commits. */
const CONCURRENCY = 10;

/**
 * Processes items in small groups, from the last position, until none are left or the job's time is over. Never goes
 * back, so that an item that always fails does not block the others.
 * @param work processes one item, and must not reject
 */
export async function sweepPages<Item>(
  turn: SweepContext,
  read: (after: TimeCursor | undefined) => Promise<SweepBatch<Item>>,
  work: (item: Item) => Promise<void>,
): Promise<Pick<SweepReport, 'isBehind' | 'stoppedAt'>> {
  let stoppedAt = turn.from;
  for (;;) {
    const { found, next } = await read(stoppedAt);
    for (const few of chunksOf(found, CONCURRENCY)) {
      if (turn.isOver()) return { isBehind: true, stoppedAt };
      await Promise.all(few.map(({ item }) => work(item)));
      stoppedAt = few.at(-1)?.place;
    }
    if (next === undefined) return { isBehind: false };
    stoppedAt = next;
    if (turn.isOver()) return { isBehind: true, stoppedAt };
  }
}

/** Sweeps like `sweepPages`, and reports the sum of the results of `work` as `counted`. `true` counts as 1. */
export async function sweepCounting<Item>(
  turn: SweepContext,
  counted: string,
  read: (after: TimeCursor | undefined) => Promise<SweepBatch<Item>>,
  work: (item: Item) => Promise<number | boolean>,
): Promise<SweepReport> {
  let count = 0;
  const end = await sweepPages(turn, read, async (item) => {
    const done = await work(item);
    count += Number(done);
  });
  return { counts: { [counted]: count }, ...end };
}

/**
 * Processes all items of a query, page by page. If one item fails, the others are still processed.
 * @param read returns the page that follows the item with the given id; an empty page ends the list
 * @param work processes one item, and returns whether anything changed
 * @returns the number of changed items
 * @throws the first error of `work`, after all items were processed
 */
export async function processAll<Item extends { readonly id: string }>(
  read: (after?: string) => Promise<readonly Item[]>,
  isWanted: (item: Item) => boolean,
  work: (item: Item) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  const errors: unknown[] = [];
  for (let page = await read(); page.length > 0; page = await read(page.at(-1)?.id)) {
    for (const few of chunksOf(page.filter(isWanted), CONCURRENCY)) {
      for (const outcome of await Promise.allSettled(few.map(work))) {
        if (outcome.status === 'rejected') errors.push(outcome.reason);
        else if (outcome.value) changed++;
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return changed;
}

const behindJob = z.object({
  since: timestamp,
  /** Position at which the job resumes; if absent, the job starts at the beginning. */
  from: z.exactOptional(z.object({ at: timestamp, id: z.string() })),
});

/** State that one sweep leaves for the next sweep, which may run in another instance. */
export const { toDocument: sweepToDocument, fromDocument: sweepFromDocument } = documentCodec(
  z.object({
    /** Outage of the Realtime Database, which stores presence. `back_at`: the first sweep after the outage. */
    outage: z._default(z.nullable(z.object({ since: timestamp, back_at: z.exactOptional(timestamp) })), null),
    behind: z._default(z.record(z.string(), behindJob), {}),
  }),
);

export type SweepState = ReturnType<typeof sweepFromDocument>;
