/** Executes runs as they are delivered, for as long as this instance has them. Source: docs/decisions/0021-runs.md. */
import { z } from 'zod';
import type { TaskCreation } from '../../tasks/creation.ts';
import { unlessUnreadable } from '../../unreadable.ts';
import type { OrchestrationPorts } from '../runPorts.ts';
import { Advance } from './advance.ts';
import { leftAfter } from './failing.ts';
import { LeaseLostError, type RunLease, takeRun } from './lease.ts';
import { handedOn, MAX_DELIVERIES } from './run.ts';
import { StepExecution } from './stepExecution.ts';

/** How long one delivery goes on before it lets another one continue. */
const TURN_MILLISECONDS = 10 * 60_000;

/** `busy`: another instance has it, so it is to be delivered again later. */
export type Delivery = 'done' | 'busy';

const message = z.object({ runId: z.string().min(1).max(100) });

export class RunExecution {
  private readonly ports: OrchestrationPorts;
  private readonly steps: StepExecution;

  constructor(ports: OrchestrationPorts, taskCreation: TaskCreation) {
    this.ports = ports;
    this.steps = new StepExecution(ports, taskCreation);
  }

  /** @param data a task of the queue; safe to deliver twice, late, and to two instances at once */
  async deliver(data: unknown): Promise<Delivery> {
    const { log } = this.ports;
    const { success, data: task } = message.safeParse(data);
    if (!success) {
      log.error('run_task_unreadable', { data });
      return 'done';
    }
    // One that cannot be read is dispatched by the sweep as soon as it can be.
    const taken = await unlessUnreadable(takeRun(this.ports, task.runId));
    if (taken === 'busy') return 'busy';
    if (taken === 'over' || taken === undefined) return 'done';
    const { lease, run } = taken;
    try {
      if (run.deliveries > MAX_DELIVERIES) await this.leave(lease, undefined);
      else await this.advance(task.runId, lease);
    } catch (error) {
      if (error instanceof LeaseLostError) {
        log.info('run_lost', { runId: task.runId });
        return 'done';
      }
      log.error('run_broke_off', { runId: task.runId, deliveries: run.deliveries, error });
      lease.giveUp(error);
      await this.leave(lease, error);
      throw error;
    } finally {
      lease.close();
    }
    return 'done';
  }

  private leave(lease: RunLease, why: unknown): Promise<void> {
    return lease.giveBack((run, now) => leftAfter(run, why, now, this.ports));
  }

  private async advance(runId: string, lease: RunLease): Promise<void> {
    const { runs, clock, dispatch } = this.ports;
    const [order, before] = await Promise.all([runs.order(runId), runs.steps(runId)]);
    const run = new Advance(this.ports, this.steps, { runId, lease, order, records: before });
    const began = clock.now().getTime();
    for (;;) {
      if ((await run.step()) === 'over') return;
      if (clock.now().getTime() - began < TURN_MILLISECONDS) continue;
      await lease.change(handedOn);
      // If it is lost, the sweep makes up for it.
      return dispatch.dispatch(runId);
    }
  }
}
