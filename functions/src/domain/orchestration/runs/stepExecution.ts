/** Executes one step, wherever its agents are. */
import { MusterError } from '../../errors.ts';
import { byteLength } from '../../size.ts';
import type { TaskCreation } from '../../tasks/creation.ts';
import { NETWORK } from '../agents/profile.ts';
import type { OrchestrationPorts } from '../runPorts.ts';
import { agentsOf } from '../workflows/definition.ts';
import { executeHosted, type HostedTask } from './hostedStep.ts';
import { NetworkSteps } from './networkStep.ts';
import { type BegunStep, type StepRecord, type StepWork, spentOn } from './run.ts';

export interface StepTask extends HostedTask {
  /** What was recorded while it waited. */
  readonly before?: StepRecord;
}

/** What the output of a step may have, in bytes of JSON: a step is one document. */
const MAX_OUTPUT_BYTES = 800_000;

export class StepExecution {
  private readonly ports: OrchestrationPorts;
  private readonly network: NetworkSteps;

  constructor(ports: OrchestrationPorts, taskCreation: TaskCreation) {
    this.ports = ports;
    this.network = new NetworkSteps(ports, taskCreation);
  }

  /** Never rejects for what is the step's own fault: that is its record. */
  async execute(task: StepTask): Promise<StepWork> {
    try {
      const [agent] = agentsOf(task.due.step);
      const work =
        agent === NETWORK ? await this.network.execute(task) : await executeHosted(task, this.ports);
      const { output, results } = work.record;
      if (byteLength([output, results]) <= MAX_OUTPUT_BYTES) return work;
      const reason = `Its output has more than ${MAX_OUTPUT_BYTES} bytes.`;
      return { ...work, record: failed(work.record, 'OUTPUT_TOO_LARGE', reason) };
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      const record = this.ended(task, error.details.reason ?? error.code, error.message);
      return { record, warnings: [] };
    }
  }

  private ended({ begun, journal }: StepTask, reason: string, message: string): StepRecord {
    const attempts = journal.booked;
    const settledAt = this.ports.clock.now();
    return failed({ ...begun, attempts, spent: spentOn(attempts), settledAt }, reason, message);
  }
}

function failed(
  { output: _, results: __, ...step }: BegunStep & Partial<StepRecord>,
  reason: string,
  message: string,
): StepRecord {
  return { ...step, status: 'failed', failure: { reason, message } };
}
