/** Executes a step for a live agent of the network: a task of the work queue, whose result becomes the output. */
import type { TaskCreation, TaskDraft } from '../../tasks/creation.ts';
import type { Task } from '../../tasks/task.ts';
import { NETWORK } from '../agents/profile.ts';
import { networkTask, outcomeOfTask } from '../network.ts';
import type { OrchestrationPorts } from '../runPorts.ts';
import type { DueStep } from '../workflows/progress.ts';
import type { BegunStep, Run, StepRecord, StepWork } from './run.ts';

export interface NetworkStep {
  readonly run: Run;
  readonly due: DueStep;
  readonly begun: BegunStep;
}

export class NetworkSteps {
  private readonly ports: OrchestrationPorts;
  private readonly taskCreation: TaskCreation;

  constructor(ports: OrchestrationPorts, taskCreation: TaskCreation) {
    this.ports = ports;
    this.taskCreation = taskCreation;
  }

  /** Puts the step's task into the queue, unless it is there, and looks what has become of it. */
  async execute({ run, due, begun }: NetworkStep): Promise<StepWork> {
    const wanted = networkTask(run, due);
    const found = (await this.ports.tasks.find(wanted.id))?.value;
    const task = found ?? (await this.create({ ...wanted.draft, id: wanted.id }, run));
    return { record: this.recordOf(begun, task), warnings: [] };
  }

  private async create(draft: TaskDraft, run: Run): Promise<Task> {
    const { workspace, startedBy: createdBy } = run;
    const field = (_: number, argument: string): string => argument;
    const request = { workspace, createdBy, drafts: [draft], isBatch: false, field };
    const [task] = await this.taskCreation.create(request, () => undefined);
    if (task === undefined) throw new Error('A task was created and is not there.');
    return task;
  }

  private recordOf(begun: BegunStep, task: Task): StepRecord {
    const known = { ...begun, agents: [task.claim?.agentId ?? NETWORK], taskId: task.id };
    const outcome = outcomeOfTask(task);
    if (outcome === undefined) return { ...known, status: 'waiting' };
    const ended = { ...known, settledAt: this.ports.clock.now() };
    if (outcome.status === 'done') return { ...ended, status: 'succeeded', output: outcome.output };
    return { ...ended, status: 'failed', failure: { reason: 'TASK_FAILED', message: outcome.error } };
  }
}
