/**
 * What the schedule runs every minute. Its parts run beside each other, each for less than a minute: one whose
 * database is away holds nobody up but what needs the same, and one that has not finished goes on in the next sweep.
 */
import type {
  BehindPart,
  PresenceHealth,
  PresenceOutage,
  SweepPart,
  SweepState,
  SweepTurn,
  Swept,
} from '../../../kernel/sweep.ts';
import { inTime } from '../../../kernel/waiting.ts';
import type { SystemPorts } from './metrics.ts';

/** A part that is told that its turn is over may take this much longer to finish what it has begun. */
const ENDING_MILLISECONDS = 5000;

/** What each part has done. */
export type SweepReport = Readonly<Record<string, Swept['counts']>>;

interface SweepLimits {
  /** How long a part may work in one sweep. */
  readonly turnMilliseconds: number;
  /** How long the check of presence may take. */
  readonly timeoutMilliseconds: number;
}

/** Each part of a sweep ends before the next minute's. The database may be slow where it has just been connected. */
const SWEEP_LIMITS: SweepLimits = { turnMilliseconds: 45_000, timeoutMilliseconds: 20_000 };

export class Sweep {
  private readonly parts: readonly SweepPart[];
  private readonly ports: SystemPorts;
  private readonly limits: SweepLimits;

  constructor(parts: readonly SweepPart[], ports: SystemPorts, limits: SweepLimits = SWEEP_LIMITS) {
    this.parts = parts;
    this.ports = ports;
    this.limits = limits;
  }

  async run(): Promise<SweepReport> {
    const { clock, log } = this.ports;
    const now = clock.now();
    const end = performance.now() + this.limits.turnMilliseconds;
    const before = await this.before();
    const presence = this.standing(before, now);
    const turns = new Map<string, Promise<Swept>>();
    for (const part of this.parts) {
      const from = before?.behind[part.name]?.from;
      const turn = { now, from, presence, isOver: () => performance.now() >= end };
      const earlier = part.after === undefined ? undefined : turns.get(part.after);
      turns.set(part.name, earlier ? earlier.then(() => this.turn(part, turn)) : this.turn(part, turn));
    }
    const outcomes = await Promise.all([...turns].map(async ([name, turn]) => [name, await turn] as const));
    await this.remember(before, outcomes, now);
    const report = Object.fromEntries(outcomes.map(([name, { counts }]) => [name, counts]));
    log.info('swept', report);
    return report;
  }

  /** Undefined where it cannot be read. */
  private async before(): Promise<SweepState | undefined> {
    const { sweepRecord, log } = this.ports;
    try {
      return await sweepRecord.read();
    } catch (error) {
      log.error('sweep_record_unreadable', { error });
      return undefined;
    }
  }

  private async standing(before: SweepState | undefined, now: Date): Promise<PresenceHealth> {
    // Nobody knows whether presence was away until a moment ago.
    if (before === undefined) return 'back';
    try {
      return await presenceStanding(this.ports, this.limits.timeoutMilliseconds, before.outage, now);
    } catch (error) {
      this.ports.log.error('sweep_record_unwritable', { error });
      return 'away';
    }
  }

  private async turn(part: SweepPart, turn: SweepTurn): Promise<Swept> {
    const { log } = this.ports;
    const { turnMilliseconds } = this.limits;
    try {
      return await inTime(part.run(turn), turnMilliseconds + ENDING_MILLISECONDS, `The part ${part.name}`);
    } catch (error) {
      log.error('sweep_part_failed', { part: part.name, error });
      return { counts: {}, isBehind: true, stoppedAt: turn.from };
    }
  }

  private async remember(
    before: SweepState | undefined,
    outcomes: readonly (readonly [part: string, Swept])[],
    now: Date,
  ): Promise<void> {
    const { sweepRecord, log } = this.ports;
    const behind: Record<string, BehindPart> = {};
    for (const [part, { isBehind, stoppedAt }] of outcomes) {
      if (isBehind) behind[part] = { since: before?.behind[part]?.since ?? now, from: stoppedAt };
    }
    const names = Object.keys(behind);
    if (names.length > 0) log.warn('sweep_behind', { parts: behind });
    if (names.length === 0 && before !== undefined && Object.keys(before.behind).length === 0) return;
    try {
      await sweepRecord.saveBehind(behind);
    } catch (error) {
      log.error('sweep_record_unwritable', { error });
    }
  }
}

// Whether presence proves a death. While the Realtime Database is away nobody's calls are noted, so that
// what it says when it is back is old. Agents that live are noted again within some heartbeats.

/** How long nobody is taken for dead after presence is back. */
export const RECOVERY_MILLISECONDS = 5 * 60_000;

/** Looks, and writes down for the next sweep what has changed. */
async function presenceStanding(
  { presence, sweepRecord, log }: SystemPorts,
  timeoutMilliseconds: number,
  outage: PresenceOutage | undefined,
  now: Date,
): Promise<PresenceHealth> {
  try {
    await inTime(presence.check(), timeoutMilliseconds, 'Presence');
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
