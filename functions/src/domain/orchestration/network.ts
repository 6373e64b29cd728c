/**
 * A step for a live agent of the network: the task that is put into the work queue for it, and what the task's
 * end means to the step. The id is derived, so that a step that is dispatched twice has one task.
 */
import { canonicalJson } from '../json.ts';
import type { Hashing } from '../ports.ts';
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

export function networkTaskId(hashing: Hashing, runId: string, { name, iteration }: StepRound): string {
  return `task-run-${hashing.sha256(canonicalJson([runId, name, iteration])).slice(0, 24)}`;
}

export function networkTask(
  hashing: Hashing,
  run: { readonly id: string; readonly workflow: string },
  due: DueStep,
): NetworkTask {
  const { step, prompt } = due;
  return {
    id: networkTaskId(hashing, run.id, due),
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
      return { status: 'failed', error: `The task ${task.id} was cancelled.` };
    default:
      return undefined;
  }
}
