/** The parts of the sweep. Each has a turn of its own: none fails with another, and few wait for another. */
import type { Position } from '../readers.ts';

/** What presence is worth: nothing while it is `away`; while it is `back` only lately, it is no proof of a death. */
export type PresenceStanding = 'trusted' | 'back' | 'away';

export interface Turn {
  readonly now: Date;
  /** Where the last turn stopped, if it did before the end. */
  readonly from: Position | undefined;
  /** Never rejects. */
  readonly presence: Promise<PresenceStanding>;
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
  run(turn: Turn): Promise<Swept>;
}

/** What keeps things for a time and then removes them. */
export interface Expiring {
  /** What it keeps, for the log. */
  readonly name: string;
  /** Removes what is too old, so much of it as takes a moment: the next sweep goes on. Tells how many. */
  expire(): Promise<number>;
}

export function expiryPart(expiring: Expiring): SweepPart {
  return {
    name: expiring.name,
    run: async () => ({ counts: { expired: await expiring.expire() }, isBehind: false }),
  };
}
