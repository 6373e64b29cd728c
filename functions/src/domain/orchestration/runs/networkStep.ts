/** Executes a step for a live agent of the network: a task of the work queue, whose result becomes the output. */
import type { Clock } from '../../ports.ts';
import type { TaskReader } from '../../readers.ts';
import type { TaskCreation } from '../../tasks/creation.ts';
import { isClosed, type Task } from '../../tasks/task.ts';
import { NETWORK } from '../agents/profile.ts';
import type { DueStep } from '../workflows/progress.ts';
import type { BegunStep, Run, StepRecord, StepWork } from './run.ts';

export interface NetworkTask {
  readonly run: Run;
  readonly due: DueStep;
  readonly begun: BegunStep;
}

export interface NetworkStepDependencies {
  readonly tasks: TaskReader;
  readonly taskCreation: TaskCreation;
  readonly clock: Clock;
}

/** Somebody waits for it: before what nobody said anything of. */
const PRIORITY = 4;

export class NetworkSteps {
  private readonly dependencies: NetworkStepDependencies;

  constructor(dependencies: NetworkStepDependencies) {
    this.dependencies = dependencies;
  }

  /** Puts the step's task into the queue, unless it is there, and looks what has become of it. */
  async execute(step: NetworkTask): Promise<StepWork> {
    const taskId = taskIdOf(step.run.id, step.due);
    const task = (await this.dependencies.tasks.find(taskId))?.value ?? (await this.create(taskId, step));
    return { record: this.recordOf(step.begun, task), warnings: [] };
  }

  private async create(id: string, { run, due }: NetworkTask): Promise<Task> {
    const draft = {
      id,
      description: due.prompt,
      priority: PRIORITY,
      dependencies: [],
      files: [],
      hints: `Step "${due.name}" (${due.step.role}) of the run ${run.id} of the workflow ${run.workflow}. The output that you complete it with goes on to its next step.`,
      requiredCapabilities: due.step.capabilities,
    };
    const [task] = await this.dependencies.taskCreation.create(
      {
        workspace: run.workspace,
        createdBy: run.startedBy,
        drafts: [draft],
        isBatch: false,
        field: (_, argument) => argument,
      },
      () => undefined,
    );
    if (task === undefined) throw new Error('A task was created and is not there.');
    return task;
  }

  private recordOf(begun: BegunStep, task: Task): StepRecord {
    const agents = [task.claim?.agentId ?? NETWORK];
    const known = { ...begun, agents, taskId: task.id };
    if (!isClosed(task.status)) return { ...known, status: 'waiting' };
    const ended = { ...known, settledAt: this.dependencies.clock.now() };
    if (task.status === 'done') return { ...ended, status: 'succeeded', output: task.result?.output ?? '' };
    const message =
      task.status === 'cancelled' ? 'Its task was cancelled.' : `${agents[0]} failed: ${task.error ?? ''}`;
    return { ...ended, status: 'failed', failure: { reason: 'TASK_FAILED', message } };
  }
}

/** The same for the same step, so that a run that is taken up again finds the task that it has made. */
export function taskIdOf(runId: string, { name, iteration }: Pick<DueStep, 'name' | 'iteration'>): string {
  return `${runId}-${name}-${iteration}`;
}

/** The run that a task was made for; undefined where it was made for none. */
export function runOfTask(taskId: string): string | undefined {
  return /^(run-[a-z2-7]{20})-/.exec(taskId)?.[1];
}
