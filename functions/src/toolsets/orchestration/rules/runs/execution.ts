/** Executes the runs that the queue delivers to this instance. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod';
import { MusterError } from '../../../../kernel/errors.ts';
import type { PortOf } from '../../../../kernel/ports.ts';
import { skipUnreadable } from '../../../../kernel/ports.ts';
import type { TaskCreation } from '../../../coordination/index.ts';
import type { ExecutionPorts } from '../ports.ts';
import { recordedCostOf, taskCancellations } from './cancelling.ts';
import { acquireRun, LeaseLostError, type ReleasedRun, type RunLease } from './lease.ts';
import { endedRun, MAX_DELIVERIES, type Run, releasedRun } from './run.ts';
import { RunExecutor } from './runExecutor.ts';

/** Time after which an instance stops executing a run and queues it again for any instance. */
const TURN_MS = 10 * 60_000;

const LOGGED = 'The request did not cause this. The log event run_broke_off with this run id contains the error.';

const message = z.object({ runId: z.string().min(1).max(100) });

export class RunExecution {
  private readonly ports: ExecutionPorts;
  private readonly taskCreation: PortOf<TaskCreation>;

  constructor(ports: ExecutionPorts, taskCreation: PortOf<TaskCreation>) {
    this.ports = ports;
    this.taskCreation = taskCreation;
  }

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
    const taken = await skipUnreadable(acquireRun(this.ports, runId));
    if (taken === 'busy') return 'busy';
    if (taken === 'over' || taken === undefined) return 'done';
    const { lease, run } = taken;
    try {
      if (run.deliveries > MAX_DELIVERIES) await lease.releaseRun((left, now) => this.release(left, now));
      else await this.advance(runId, lease);
    } catch (error) {
      if (error instanceof LeaseLostError) {
        log.info('run_lost', { runId });
        return 'done';
      }
      log.error('run_broke_off', { runId, deliveries: run.deliveries, error });
      lease.abandon(error);
      await lease.releaseRun((left, now) => this.release(left, now, error));
      throw error;
    } finally {
      lease.close();
    }
    return 'done';
  }

  private async advance(runId: string, lease: RunLease): Promise<void> {
    const { runs, clock, dispatch } = this.ports;
    const [order, before] = await Promise.all([runs.order(runId), runs.steps(runId)]);
    const run = new RunExecutor(this.ports, this.taskCreation, lease, { order, before });
    const began = clock.now().getTime();
    while ((await run.step()) === 'more') {
      if (clock.now().getTime() - began < TURN_MS) continue;
      await lease.change(releasedRun);
      // If this dispatch fails, the sweep dispatches the run again.
      return dispatch.dispatch(runId);
    }
  }

  /**
   * Returns the run after an interrupted execution: released for the next attempt, or failed after the last attempt.
   * @param why the error; undefined if the instances stopped without reporting an error
   */
  private async release(run: Run, now: Date, why?: unknown): Promise<ReleasedRun> {
    if (run.deliveries < MAX_DELIVERIES) return { run: releasedRun(run, now), changes: [] };
    const where = run.current.length === 0 ? '' : ` at ${run.current.join(', ')}`;
    const text = why instanceof MusterError ? why.message : LOGGED;
    const message = `The run was started ${MAX_DELIVERIES} times${where} and interrupted each time before a step was done. ${text}`;
    const failed = endedRun(
      { ...run, ...(await recordedCostOf(this.ports, run)) },
      { status: 'failed', failure: { reason: 'EXECUTION_FAILED', message } },
      now,
    );
    return { run: failed, changes: await taskCancellations(this.ports.tasks, failed, now) };
  }
}
