/**
 * The sweep: cleanup jobs that the scheduler starts every minute, and that run in parallel for less than a minute. If
 * a database is unavailable, only the jobs that use it are delayed. An unfinished job continues in the next sweep.
 */
import { withTimeout } from '../../../kernel/concurrency.ts';
import type { PresenceHealth, SweepJob, SweepReport, SweepState } from '../../../kernel/sweep.ts';
import type { SystemPorts } from './ports.ts';

/** Additional time in which a job can finish its current work after its time is over. */
const SHUTDOWN_MARGIN_MS = 5000;

/** Limits that end each job before the next sweep starts. The first request on a new connection can be slow. */
const SWEEP_LIMITS = {
  /** Maximum time of a job per sweep, in milliseconds. */
  turnMilliseconds: 45_000,
  /** Maximum time of the presence check, in milliseconds. */
  timeoutMilliseconds: 20_000,
};

/** Runs all cleanup jobs once. @returns the counts that each job reports */
export async function sweep(
  parts: readonly SweepJob[],
  ports: SystemPorts,
  { turnMilliseconds, timeoutMilliseconds } = SWEEP_LIMITS,
): Promise<Readonly<Record<string, SweepReport['counts']>>> {
  const { clock, log, sweepRecord } = ports;
  const now = clock.now();
  const end = performance.now() + turnMilliseconds;
  // If the record of the previous sweep cannot be read, the state is undefined.
  const before: SweepState | undefined = await sweepRecord.read().catch((error: unknown) => {
    log.error('sweep_record_unreadable', { error });
    return undefined;
  });
  const presence = presenceHealth(ports, timeoutMilliseconds, before, now);
  const turns = new Map<string, Promise<SweepReport>>();
  for (const part of parts) {
    const from = before?.behind[part.name]?.from;
    const turn = { now, from, presence, isOver: () => performance.now() >= end };
    const run = async (): Promise<SweepReport> => {
      try {
        return await withTimeout(part.run(turn), turnMilliseconds + SHUTDOWN_MARGIN_MS, `The job ${part.name}`);
      } catch (error) {
        log.error('sweep_part_failed', { part: part.name, error });
        return { counts: {}, isBehind: true, stoppedAt: from };
      }
    };
    const earlier = part.after === undefined ? undefined : turns.get(part.after);
    turns.set(part.name, earlier ? earlier.then(run) : run());
  }
  const outcomes = await Promise.all([...turns].map(async ([name, turn]) => [name, await turn] as const));
  await saveState(ports, before, outcomes, now);
  const report = Object.fromEntries(outcomes.map(([name, { counts }]) => [name, counts]));
  log.info('swept', report);
  return report;
}

async function saveState(
  { sweepRecord, log }: SystemPorts,
  before: SweepState | undefined,
  outcomes: readonly (readonly [part: string, SweepReport])[],
  now: Date,
): Promise<void> {
  const behind: Record<string, SweepState['behind'][string]> = {};
  for (const [part, { isBehind, stoppedAt }] of outcomes) {
    const since = before?.behind[part]?.since ?? now;
    if (isBehind) behind[part] = { since, ...(stoppedAt && { from: stoppedAt }) };
  }
  const names = Object.keys(behind);
  if (names.length > 0) log.warn('sweep_behind', { parts: behind });
  if (names.length === 0 && before !== undefined && Object.keys(before.behind).length === 0) return;
  await sweepRecord.saveBehind(behind).catch((error: unknown) => log.error('sweep_record_unwritable', { error }));
}

/** Time after an outage of the Realtime Database during which no agent is marked offline, in milliseconds. */
export const RECOVERY_MS = 5 * 60_000;

/**
 * Returns whether agents without a recent heartbeat are really offline, and stores outages for the next sweep. During
 * an outage of the Realtime Database no heartbeats are stored, so the data is outdated until the next heartbeats.
 * If the record of the previous sweep cannot be read, a recent outage is assumed.
 */
async function presenceHealth(
  { presence, sweepRecord, log }: SystemPorts,
  timeoutMilliseconds: number,
  before: SweepState | undefined,
  now: Date,
): Promise<PresenceHealth> {
  if (before === undefined) return 'back';
  const { outage } = before;
  try {
    const away = await withTimeout(presence.check(), timeoutMilliseconds, 'Presence').then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (away !== undefined) {
      const since = outage !== undefined && outage.back_at === undefined ? outage.since : now;
      log.warn('presence_away', { since, error: away.error });
      await sweepRecord.saveOutage({ since });
      return 'away';
    }
    if (outage === undefined) return 'trusted';
    const { since, back_at = now } = outage;
    if (now.getTime() - back_at.getTime() >= RECOVERY_MS) {
      await sweepRecord.saveOutage(undefined);
      return 'trusted';
    }
    if (outage.back_at === undefined) {
      log.info('presence_back', { since });
      await sweepRecord.saveOutage({ since, back_at });
    }
    return 'back';
  } catch (error) {
    log.error('sweep_record_unwritable', { error });
    return 'away';
  }
}
