/**
 * A step for a live agent of the network: the task that is put into the work queue for it, and what the task's
 * end means to the step. The id is derived, so that a step that is dispatched twice has one task.
 */
import type { TaskDraft } from '../tasks/creation.ts';
import type { Task } from '../tasks/task.ts';
import type { DueStep, StepRound } from './workflows/progress.ts';
import type { StepOutcome } from './workflows/scope.ts';

/** Of the usual importance. */
const PRIORITY = 5;

export interface NetworkTask {
  readonly id: string;
  readonly draft: TaskDraft;
}

/** Names its run, so that whoever sees the task closed knows which run goes on. */
export function networkTaskId(runId: string, { name, iteration }: StepRound): string {
  return `${tasksOfRun(runId)}${name}-${iteration}`;
}

/** How the ids of all tasks of all runs begin, and of no others. */
export const TASKS_OF_RUNS = 'run-';

/** How the ids of all tasks of a run begin. */
export function tasksOfRun(runId: string): string {
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
