/** Jobs of the sweep, the scheduled cleanup. Each has its own turn, so that a failure stops no other job. */

import { z } from 'zod/mini';
import { documentCodec, timestamp } from './documentCodec.ts';
import type { SweepBatch, TimeCursor } from './paging.ts';
import { DAY_MS } from './ports.ts';

/** Reliability of presence. `away`: unusable. `back`: recovered recently, so a missing heartbeat proves nothing. */
export type PresenceHealth = 'trusted' | 'back' | 'away';

export interface SweepContext {
  readonly now: Date;
  /** Position where the last turn stopped; undefined if it finished. */
  readonly from: TimeCursor | undefined;
  /** Never rejects. */
  readonly presence: Promise<PresenceHealth>;
  /** Whether the job must stop and return its position. */
  isOver(): boolean;
}

/** Result of a turn. */
export interface SweepReport {
  readonly counts: Readonly<Record<string, number>>;
  /** Whether due items remain. */
  readonly isBehind: boolean;
  /** Position where the next turn resumes; absent: at the start. */
  readonly stoppedAt?: TimeCursor | undefined;
}

export interface SweepJob {
  /** Name in the log and in the stored record. */
  readonly name: string;
  /** Name of an earlier job in the list that must finish before this one starts. */
  readonly after?: string;
  /** Safe to run twice, late, or in two instances concurrently. */
  run(turn: SweepContext): Promise<SweepReport>;
}

/** A store that keeps data for a limited time. */
export interface ExpiringStore {
  /** Name of the data, for the log. */
  readonly name: string;
  /** Removes a limited number of expired items and returns their number: 0 if none are left. */
  expire(): Promise<number>;
}

/** Returns a job that removes expired items until none are left or its turn ends. */
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
 * Returns a job that removes items that ended more than `days` days ago; 0 disables it. It starts once per
 * hour, because each query costs money, and then continues every minute until it is finished.
 * @param remove removes the items that ended before an instant
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

/** Concurrent items. Each has its own commits and mostly waits for them. */
const CONCURRENCY = 10;

/**
 * Works on a few items at a time, from the last position, until none are left or the turn ends. Never goes back, so
 * that an item that cannot be handled does not block the others.
 * @param work must not reject
 */
export async function sweepPages<Item>(
  turn: SweepContext,
  read: (after: TimeCursor | undefined) => Promise<SweepBatch<Item>>,
  work: (item: Item) => Promise<void>,
): Promise<Pick<SweepReport, 'isBehind' | 'stoppedAt'>> {
  let stoppedAt = turn.from;
  for (;;) {
    const { found, next } = await read(stoppedAt);
    for (let first = 0; first < found.length; first += CONCURRENCY) {
      if (turn.isOver()) return { isBehind: true, stoppedAt };
      const few = found.slice(first, first + CONCURRENCY);
      await Promise.all(few.map(({ item }) => work(item)));
      stoppedAt = few.at(-1)?.place;
    }
    if (next === undefined) return { isBehind: false };
    stoppedAt = next;
    if (turn.isOver()) return { isBehind: true, stoppedAt };
  }
}

/** Stored state of a job with remaining due items. */
const behindJob = z.object({
  since: timestamp,
  /** Position where the job resumes; absent: at the start. */
  from: z.exactOptional(z.object({ at: timestamp, id: z.string() })),
});

/** State that one sweep passes to the next, possibly in another instance. */
export const { toDocument: sweepToDocument, fromDocument: sweepFromDocument } = documentCodec(
  z.object({
    /** Outage of the Realtime Database, without presence updates. `back_at`: first sweep after it. */
    outage: z._default(z.nullable(z.object({ since: timestamp, back_at: z.exactOptional(timestamp) })), null),
    /** Jobs with remaining due items, by name. */
    behind: z._default(z.record(z.string(), behindJob), {}),
  }),
);

export type SweepState = ReturnType<typeof sweepFromDocument>;
