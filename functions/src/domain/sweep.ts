/** What the schedule runs every minute. Safe to run twice, late, or in two instances at once. */
import type { AgentLiveness } from './agents/liveness.ts';
import type { Log } from './ports.ts';
import type { TaskSweep } from './tasks/sweep.ts';

/** What keeps things for a time and then removes them. */
export interface Expiring {
  /** What it keeps, for the log. */
  readonly name: string;
  /** Removes what is too old, so much of it as takes a moment: the next sweep goes on. Tells how many. */
  expire(): Promise<number>;
}

export class Sweep {
  private readonly tasks: TaskSweep;
  private readonly liveness: AgentLiveness;
  private readonly expiring: readonly Expiring[];
  private readonly log: Log;

  constructor(tasks: TaskSweep, liveness: AgentLiveness, expiring: readonly Expiring[], log: Log) {
    this.tasks = tasks;
    this.liveness = liveness;
    this.expiring = expiring;
    this.log = log;
  }

  /** Leases before presence: a holder's presence decides about its lease. */
  async run(): Promise<void> {
    const leases = await this.tasks.run();
    const offline = await this.liveness.sweep();
    const expired = await this.expire();
    this.log.info('swept', { ...leases, offline, expired });
  }

  private async expire(): Promise<Readonly<Record<string, number>>> {
    const expired: Record<string, number> = {};
    for (const each of this.expiring) {
      // One that cannot be reached must not keep the others.
      try {
        expired[each.name] = await each.expire();
      } catch (error) {
        this.log.error('expiry_failed', { name: each.name, error });
      }
    }
    return expired;
  }
}
