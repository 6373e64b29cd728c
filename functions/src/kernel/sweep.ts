/** The parts of the sweep. Each has a turn of its own: none fails with another, and few wait for another. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from './documentCodec.ts';
import type { Batch, Position } from './paging.ts';

/** Presence is worth nothing while it is `away`; while it is `back` only lately, it is no proof of a death. */
export type PresenceHealth = 'trusted' | 'back' | 'away';

export interface SweepTurn {
  readonly now: Date;
  /** Where the last turn stopped, if it did before the end. */
  readonly from: Position | undefined;
  /** Never rejects. */
  readonly presence: Promise<PresenceHealth>;
  /** Whether the part is to stop and to say where. */
  isOver(): boolean;
}

/** How a turn ended. */
export interface Swept {
  readonly counts: Readonly<Record<string, number>>;
  /** Whether something was left that was due. */
  readonly isBehind: boolean;
  /** Where the next turn goes on; absent: at the beginning. */
  readonly stoppedAt?: Position | undefined;
}

export interface SweepPart {
  /** For the log and the record. */
  readonly name: string;
  /** The part whose turn ends before this one's begins, where there is one. It stands before it in the list. */
  readonly after?: string;
  /** Safe to run twice, late, or in two instances at once. */
  run(turn: SweepTurn): Promise<Swept>;
}

/** A store that keeps things for a time and then removes them. */
export interface Expiring {
  /** Names the things, for the log. */
  readonly name: string;
  /** Removes old ones, as many as takes a moment, and returns how many: 0 if none are left. */
  expire(): Promise<number>;
}

/** A part that removes what has expired until none is left or its turn is over. */
export function expiryPart(expiring: Expiring): SweepPart {
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

/** For how many days what has ended is kept, by what it is; 0 for ever. */
export type RetentionDays = Readonly<
  Record<'events' | 'trail' | 'logs' | 'runs' | 'tasks', number> & { agents?: number }
>;

const DAY_MILLISECONDS = 24 * 3_600_000;

/**
 * A part that removes what was over so many days ago, and finds nothing to do where that is 0. It begins once an hour,
 * since looking costs something each time, and goes on each minute until it is through.
 * @param remove removes what was over before an instant
 */
export function retentionPart(
  name: string,
  days: number,
  remove: (before: Date, turn: SweepTurn) => Promise<Swept>,
): SweepPart {
  return {
    name,
    run: async (turn) => {
      const isDue = turn.from !== undefined || turn.now.getUTCMinutes() === 0;
      if (days <= 0 || !isDue) return { counts: {}, isBehind: false };
      return remove(new Date(turn.now.getTime() - days * DAY_MILLISECONDS), turn);
    },
  };
}

/** Each has commits of its own, and mostly waits for them. */
const AT_ONCE = 10;

/**
 * Takes a few at a time, from where the last turn stopped, until there are no more or the turn is over. It
 * never goes back, so that what cannot be cleared up does not keep the walk from the rest.
 * @param work must not reject
 */
export async function walk<Item>(
  turn: SweepTurn,
  read: (after: Position | undefined) => Promise<Batch<Item>>,
  work: (item: Item) => Promise<void>,
): Promise<Pick<Swept, 'isBehind' | 'stoppedAt'>> {
  let stoppedAt = turn.from;
  for (;;) {
    const { found, next } = await read(stoppedAt);
    for (let first = 0; first < found.length; first += AT_ONCE) {
      if (turn.isOver()) return { isBehind: true, stoppedAt };
      const few = found.slice(first, first + AT_ONCE);
      await Promise.all(few.map(({ item }) => work(item)));
      stoppedAt = few.at(-1)?.place;
    }
    if (next === undefined) return { isBehind: false };
    stoppedAt = next;
    if (turn.isOver()) return { isBehind: true, stoppedAt };
  }
}

/** A part of the sweep that has left something that was due. */
const behindPart = z.object({
  since: timestamp,
  /** Where it goes on; absent: at the beginning. */
  from: z.exactOptional(z.object({ at: timestamp, id: z.string() })),
});

/** What one sweep tells the next, which may run in another instance. */
export const { toDocument: sweepToDocument, fromDocument: sweepFromDocument } = documentCodec(
  z.object({
    /** The Realtime Database was away: presence could not be noted. `back_at` is the first sweep that found it working. */
    outage: z._default(z.nullable(z.object({ since: timestamp, back_at: z.exactOptional(timestamp) })), null),
    /** By name; a part that is not behind is absent. */
    behind: z._default(z.record(z.string(), behindPart), {}),
  }),
);

export type SweepState = ReturnType<typeof sweepFromDocument>;
