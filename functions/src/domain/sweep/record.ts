/** What one sweep tells the next, which may run in another instance. */
import type { Position } from '../readers.ts';

/** The Realtime Database was away: presence could not be noted. */
export interface PresenceOutage {
  readonly since: Date;
  /** The first sweep that found it working again. */
  readonly backAt?: Date | undefined;
}

/** A part of the sweep that has left something that was due. */
export interface BehindPart {
  readonly since: Date;
  /** Where it goes on; absent: at the beginning. */
  readonly from?: Position | undefined;
}

export interface SweepState {
  readonly outage?: PresenceOutage | undefined;
  /** By name; a part that is not behind is absent. */
  readonly behind: Readonly<Record<string, BehindPart>>;
}

export interface SweepRecord {
  read(): Promise<SweepState>;
  /** @param outage absent: it is over, and long enough ago */
  saveOutage(outage: PresenceOutage | undefined): Promise<void>;
  saveBehind(behind: SweepState['behind']): Promise<void>;
}
