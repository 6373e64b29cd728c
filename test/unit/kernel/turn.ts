import type { SweepTurn } from '../../../functions/src/kernel/sweep.ts';

/** Returns a sweep turn without a time limit. */
export function turnAt(now: Date, more: Partial<SweepTurn> = {}): SweepTurn {
  return { now, from: undefined, presence: Promise.resolve('trusted'), isOver: () => false, ...more };
}
