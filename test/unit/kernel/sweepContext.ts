import type { SweepContext } from '../../../functions/src/kernel/sweep.ts';

/** Returns the context of a sweep run at this time, without a time limit. */
export function sweepContextAt(now: Date, more: Partial<SweepContext> = {}): SweepContext {
  return { now, from: undefined, presence: Promise.resolve('trusted'), isOver: () => false, ...more };
}
