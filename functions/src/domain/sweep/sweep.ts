/**
 * What the schedule runs every minute. Its parts run beside each other, each for less than a minute: one whose
 * database is away holds nobody up but what needs the same, and one that has not finished goes on in the next sweep.
 */
import { inTime } from '../deadline.ts';
import type { Clock } from '../ports.ts';
import type { PresenceStanding, SweepPart, Swept, Turn } from './part.ts';
import { presenceStanding, type StandingDependencies } from './presenceStanding.ts';
import type { BehindPart, SweepState } from './record.ts';

/** A part that is told that its turn is over may take this much longer to finish what it has begun. */
const ENDING_MILLISECONDS = 5000;

export interface SweepDependencies extends StandingDependencies {
  readonly clock: Clock;
  /** How long a part may work in one sweep. */
  readonly turnMilliseconds: number;
}

/** What each part has done. */
export type SweepReport = Readonly<Record<string, Swept['counts']>>;

export class Sweep {
  private readonly parts: readonly SweepPart[];
  private readonly dependencies: SweepDependencies;

  constructor(parts: readonly SweepPart[], dependencies: SweepDependencies) {
    this.parts = parts;
    this.dependencies = dependencies;
  }

  async run(): Promise<SweepReport> {
    const { clock, log, turnMilliseconds } = this.dependencies;
    const now = clock.now();
    const end = performance.now() + turnMilliseconds;
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
    const { record, log } = this.dependencies;
    try {
      return await record.read();
    } catch (error) {
      log.error('sweep_record_unreadable', { error });
      return undefined;
    }
  }

  private async standing(before: SweepState | undefined, now: Date): Promise<PresenceStanding> {
    // Nobody knows whether presence was away until a moment ago.
    if (before === undefined) return 'back';
    try {
      return await presenceStanding(this.dependencies, before.outage, now);
    } catch (error) {
      this.dependencies.log.error('sweep_record_unwritable', { error });
      return 'away';
    }
  }

  private async turn(part: SweepPart, turn: Turn): Promise<Swept> {
    const { log, turnMilliseconds } = this.dependencies;
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
    const { record, log } = this.dependencies;
    const behind: Record<string, BehindPart> = {};
    for (const [part, { isBehind, stoppedAt }] of outcomes) {
      if (isBehind) behind[part] = { since: before?.behind[part]?.since ?? now, from: stoppedAt };
    }
    const names = Object.keys(behind);
    if (names.length > 0) log.warn('sweep_behind', { parts: behind });
    if (names.length === 0 && before !== undefined && Object.keys(before.behind).length === 0) return;
    try {
      await record.saveBehind(behind);
    } catch (error) {
      log.error('sweep_record_unwritable', { error });
    }
  }
}
