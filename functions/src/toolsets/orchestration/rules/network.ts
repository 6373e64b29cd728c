/**
 * A step for a live agent of the network: the task that is put into the work queue for it, and what the task's
 * end means to the step. The id is derived, so that a step that is dispatched twice has one task.
 */
import type { Change } from '../../../kernel/commit.ts';
import {
  cancelTask,
  isClosed,
  settlementChanges,
  type Task,
  type TaskCreation,
  type TaskDraft,
  type TaskReader,
} from '../../coordination/index.ts';
import { NETWORK } from './agents/profile.ts';
import type { OrchestrationPorts } from './ports.ts';
import { type BegunStep, isEnded, type Run, type StepRecord, type StepWork } from './runs/run.ts';
import type { DueStep, StepRound } from './workflows/progress.ts';
import type { StepOutcome } from './workflows/scope.ts';

/** Of the usual importance. */
const PRIORITY = 5;

interface NetworkTask {
  readonly id: string;
  readonly draft: TaskDraft;
}

/** Names its run, so that whoever sees the task closed knows which run goes on. */
function networkTaskId(runId: string, { name, iteration }: StepRound): string {
  return `${tasksOfRun(runId)}${name}-${iteration}`;
}

/** How the ids of all tasks of a run begin. */
function tasksOfRun(runId: string): string {
  return `${runId}-`;
}

/** The run that a task was made for; undefined where it was made for none. */
export function runOfTask(taskId: string): string | undefined {
  return /^(run-[a-z2-7]{20})-/.exec(taskId)?.[1];
}

export function networkTask(
  run: { readonly id: string; readonly workflow: string },
  due: DueStep,
): NetworkTask {
  const { step, prompt } = due;
  return {
    id: networkTaskId(run.id, due),
    draft: {
      description: `${titleOf(run.workflow, due)}\n\n${prompt}`,
      priority: PRIORITY,
      dependencies: [],
      files: [],
      hints: `A step of the run ${run.id}, role ${step.role}: what complete_task is given as output is what the workflow goes on with.`,
      requiredCapabilities: step.capabilities,
    },
  };
}

function titleOf(workflow: string, { name, iteration }: StepRound): string {
  const round = iteration === 1 ? '' : `, round ${iteration}`;
  return `Step ${name} of the workflow ${workflow}${round}`;
}

/** @returns undefined while the task is open */
export function outcomeOfTask(task: Task): StepOutcome | undefined {
  const by = task.claim === undefined ? 'Nobody' : `The agent ${task.claim.agentId}`;
  switch (task.status) {
    case 'done': {
      const output = task.result?.output ?? '';
      const results = task.claim && [{ agent: task.claim.agentId, output }];
      return { status: 'done', output, ...(results && { results }) };
    }
    case 'failed':
      return {
        status: 'failed',
        error: `${by} could not do the task ${task.id}: ${task.error ?? 'no reason given'}`,
      };
    case 'cancelled':
      return {
        status: 'failed',
        error: `The task ${task.id} was cancelled${task.error === undefined ? '.' : `: ${task.error}`}`,
      };
    default:
      return undefined;
  }
}

// Executes a step for a live agent of the network: a task of the work queue, whose result becomes the
// output.

interface NetworkStep {
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

// What becomes of the tasks that a run has in the work queue when it ends without them: they are cancelled.

/**
 * Cancels what is open, whoever holds it. Each change is of the version that was read, so that a result which
 * comes first stands. Nothing where the run goes on, or has all that it wanted.
 */
export async function abandonedTasks(tasks: TaskReader, run: Run, now: Date): Promise<readonly Change[]> {
  if (!isEnded(run) || run.status === 'succeeded') return [];
  const found = await tasks.startingWith(tasksOfRun(run.id));
  return found
    .filter(({ value }) => !isClosed(value.status))
    .flatMap(({ value: before, version }) => {
      const task = cancelTask(before, reasonOf(run), now);
      return settlementChanges(before, { kind: 'accepted', task }, version, now);
    });
}

function reasonOf({ id, status }: Run): string {
  return status === 'cancelled'
    ? `The run ${id} that it belongs to was cancelled.`
    : `The run ${id} that it belongs to has failed.`;
}
