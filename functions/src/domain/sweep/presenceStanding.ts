/**
 * Whether presence proves a death. While the Realtime Database is away nobody's calls are noted, so that what it
 * says when it is back is old. Agents that live are noted again within some heartbeats.
 */
import { inTime } from '../deadline.ts';
import type { SystemPorts } from '../system/ports.ts';
import type { PresenceStanding } from './part.ts';
import type { PresenceOutage } from './record.ts';

/** How long nobody is taken for dead after presence is back. */
export const RECOVERY_MILLISECONDS = 5 * 60_000;

/** Looks, and writes down for the next sweep what has changed. */
export async function presenceStanding(
  { presence, sweepRecord, log }: SystemPorts,
  patienceMilliseconds: number,
  outage: PresenceOutage | undefined,
  now: Date,
): Promise<PresenceStanding> {
  try {
    await inTime(presence.check(), patienceMilliseconds, 'Presence');
  } catch (error) {
    const since = outage !== undefined && outage.backAt === undefined ? outage.since : now;
    log.warn('presence_away', { since, error });
    await sweepRecord.saveOutage({ since });
    return 'away';
  }
  if (outage === undefined) return 'trusted';
  const { since, backAt = now } = outage;
  if (now.getTime() - backAt.getTime() >= RECOVERY_MILLISECONDS) {
    await sweepRecord.saveOutage(undefined);
    return 'trusted';
  }
  if (outage.backAt === undefined) {
    log.info('presence_back', { since });
    await sweepRecord.saveOutage({ since, backAt });
  }
  return 'back';
}
