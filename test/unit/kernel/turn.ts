import type { SweepTurn } from '../../../functions/src/kernel/sweep.ts';

/** A turn of a part of the sweep that has all the time. */
export function turnAt(now: Date, more: Partial<SweepTurn> = {}): SweepTurn {
  return { now, from: undefined, presence: Promise.resolve('trusted'), isOver: () => false, ...more };
}
