import type { SweepContext } from '../../../functions/src/kernel/sweep.ts';

/** Returns a sweep turn without a time limit. */
export function sweepContextAt(now: Date, more: Partial<SweepContext> = {}): SweepContext {
  return { now, from: undefined, presence: Promise.resolve('trusted'), isOver: () => false, ...more };
}
