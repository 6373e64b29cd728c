/** Executes the runs that the queue delivers to this instance. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod';
import { MusterError } from '../../../../kernel/errors.ts';
import { Service, skipUnreadable } from '../../../../kernel/ports.ts';
import type { ExecutionPorts } from '../ports.ts';
import { recordedCostOf, taskCancellations } from './cancelling.ts';
import { acquireRun, LeaseLostError, type RunLease } from './lease.ts';
import { endedRun, MAX_DELIVERIES, releasedRun } from './run.ts';
import { RunExecutor } from './runExecutor.ts';

/** Time after which an instance stops executing a run and queues it again for any instance. */
const TURN_MS = 10 * 60_000;

const LOGGED = 'The request did not cause this. The log event run_broke_off with this run id contains the error.';

const message = z.object({ runId: z.string().min(1).max(100) });

export class RunExecution extends Service<ExecutionPorts> {
  /**
   * @param data content of a queue task, which may arrive twice, late, or at two instances at the same time
   * @returns `busy` if another instance is executing the run, so that the queue must deliver it again later
   */
  async deliver(data: unknown): Promise<'done' | 'busy'> {
    const { log } = this.ports;
    const { success, data: task } = message.safeParse(data);
    if (!success) {
      log.error('run_task_unreadable', { data });
      return 'done';
    }
    const { runId } = task;
    // If the run is unreadable, the sweep dispatches it after a repair.
    const lease = await skipUnreadable(acquireRun(this.ports, runId));
    if (lease === 'busy') return 'busy';
    if (lease === 'over' || lease === undefined) return 'done';
    const { deliveries } = lease.run;
    try {
      if (deliveries > MAX_DELIVERIES) await this.release(lease);
      else await this.advance(runId, lease);
    } catch (error) {
      await lease.recordAnswers();
      if (error instanceof LeaseLostError) {
        log.info('run_lost', { runId });
        return 'done';
      }
      log.error('run_broke_off', { runId, deliveries, error });
      lease.abandon(error);
      await this.release(lease, error);
      throw error;
    } finally {
      lease.close();
    }
    return 'done';
  }

  private async advance(runId: string, lease: RunLease): Promise<void> {
    const { runs, clock, dispatch } = this.ports;
    // Only an earlier execution can have recorded steps.
    const before = lease.run.epoch > 1 ? await runs.steps(runId) : [];
    const run = new RunExecutor(this.ports, lease, { order: await lease.order, before });
    const began = clock.now().getTime();
    while ((await run.step()) === 'more') {
      if (clock.now().getTime() - began < TURN_MS) continue;
      await lease.change(releasedRun);
      // If this dispatch fails, the sweep dispatches the run again.
      return dispatch.dispatch(runId);
    }
  }

  /**
   * Stores the run after an interrupted execution: released for the next attempt, or failed after the last attempt.
   * @param why the error; undefined if the instances stopped without reporting an error
   */
  private async release(lease: RunLease, why?: unknown): Promise<void> {
    const { deliveries, current } = lease.run;
    const where = current.length === 0 ? '' : ` at ${current.join(', ')}`;
    const text = why instanceof MusterError ? why.message : LOGGED;
    const message = `The run was started ${MAX_DELIVERIES} times${where} and interrupted each time before a step was done. ${text}`;
    const ending = { status: 'failed', failure: { reason: 'EXECUTION_FAILED', message } } as const;
    const booked = deliveries < MAX_DELIVERIES ? {} : await recordedCostOf(this.ports, lease.run);
    await lease.release(
      (run, now) =>
        run.deliveries < MAX_DELIVERIES ? releasedRun(run, now) : endedRun({ ...run, ...booked }, ending, now),
      (run, now) => taskCancellations(this.ports.tasks, run, now),
    );
  }
}
