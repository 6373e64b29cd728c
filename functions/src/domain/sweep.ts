/** What the schedule runs every minute. Safe to run twice, late, or in two instances at once. */
import type { AgentLiveness } from './agents/liveness.ts';
import type { Log } from './ports.ts';
import type { TaskSweep } from './tasks/sweep.ts';

export class Sweep {
  private readonly tasks: TaskSweep;
  private readonly liveness: AgentLiveness;
  private readonly log: Log;

  constructor(tasks: TaskSweep, liveness: AgentLiveness, log: Log) {
    this.tasks = tasks;
    this.liveness = liveness;
    this.log = log;
  }

  /** Leases before presence: a holder's presence decides about its lease. */
  async run(): Promise<void> {
    const leases = await this.tasks.run();
    const offline = await this.liveness.sweep();
    this.log.info('swept', { ...leases, offline });
  }
}
