import type { Lease } from './log.ts';

/** How often a watch with readers says that it is there. */
export const RENEWED_EVERY_MILLISECONDS = 5000;

/** A lease that was not renewed for so long is anybody's. */
const STALE_MILLISECONDS = 15_000;

/** Whether a watch may have the lease. */
export function mayTake(lease: Lease | undefined, holder: string, now: Date): boolean {
  if (lease === undefined || lease.holder === holder || !lease.reading) return true;
  return now.getTime() - lease.renewed.getTime() > STALE_MILLISECONDS;
}
