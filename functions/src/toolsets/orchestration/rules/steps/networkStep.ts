/**
 * Executes a step on a live agent: adds a task to the work queue, and uses the task's result as the step's output.
 * The task id is derived from the run and the step, so that executing a step twice creates only one task.
 */
import type { PortOf } from '../../../../kernel/ports.ts';
import type { Task, TaskCreation, TaskDraft } from '../../../coordination/index.ts';
import { NETWORK } from '../agents/profile.ts';
import type { ExecutionPorts } from '../ports.ts';
import type { DueStep } from '../workflows/progress.ts';
import type { StepTask } from './hostedStep.ts';
import type { RunOfStep, StartedStep, StepRecord, StepWork } from './step.ts';

const PRIORITY = 5;

/** Returns the id of the run for which the task was created; undefined if the task does not belong to a run. */
export function runOfTask(taskId: string): string | undefined {
  return /^(run-[a-z2-7]{20})-/.exec(taskId)?.[1];
}

/** Returns the task of a step. Its id contains the run id, with which the trigger for closed tasks finds the run. */
export function networkTask(run: Pick<RunOfStep, 'id' | 'workflow'>, { name, iteration, step, prompt }: DueStep) {
  const round = iteration === 1 ? '' : `, round ${iteration}`;
  const draft: TaskDraft = {
    description: `Step ${name} of the workflow ${run.workflow}${round}\n\n${prompt}`,
    priority: PRIORITY,
    dependencies: [],
    files: [],
    hints: `This task is a step of the run ${run.id}, with the role ${step.role}. The workflow uses the output with which you complete this task.`,
    required_capabilities: step.capabilities,
    part_of: { kind: 'run', id: run.id },
  };
  return { id: `${run.id}-${name}-${iteration}`, draft };
}

/** Adds the step's task to the queue unless the task exists. Returns the record of the step. */
export async function executeOnNetwork(
  { run, due, startedStep }: Pick<StepTask, 'run' | 'due' | 'startedStep'>,
  { tasks, taskCreation, clock }: ExecutionPorts,
): Promise<StepWork> {
  const { id, draft } = networkTask(run, due);
  const task = (await tasks.find(id))?.value ?? (await createTask({ ...draft, id }, run, taskCreation));
  return { record: recordOf(startedStep, task, clock.now()), warnings: [] };
}

async function createTask(draft: TaskDraft, run: RunOfStep, taskCreation: PortOf<TaskCreation>): Promise<Task> {
  const { workspace, started_by: createdBy, owner_uid } = run;
  const request = { workspace, createdBy, opener: { uid: createdBy, owner_uid }, drafts: [draft] };
  // The run acts on behalf of the caller that started it.
  const tool = 'orchestration.orchestrate_workflow';
  const by = { uid: createdBy, owner_uid, tool, workspace, request_id: run.id, run_id: run.id };
  const [task] = await taskCreation.create(request, () => ({ by }));
  if (task === undefined) throw new Error('The created task was not returned.');
  return task;
}

/** Returns the step's record according to the state of its task. While the task is open, the step is waiting. */
export function recordOf(startedStep: StartedStep, task: Task, now: Date): StepRecord {
  const { status, claim, result, error } = task;
  const known = { ...startedStep, agents: [claim?.claimed_by ?? NETWORK], task_id: task.id };
  const settled = { ...known, settled_at: now };
  const failed = (message: string): StepRecord => ({
    ...settled,
    status: 'failed',
    failure: { reason: 'TASK_FAILED', message },
  });
  if (status === 'done') return { ...settled, status: 'succeeded', output: result?.output ?? '' };
  if (status === 'failed') {
    const by = claim === undefined ? '' : ` (agent ${claim.claimed_by})`;
    return failed(`The task ${task.id} failed${by}: ${error ?? 'no reason given'}`);
  }
  if (status !== 'cancelled') return { ...known, status: 'waiting' };
  return failed(`The task ${task.id} was cancelled${error === undefined ? '.' : `: ${error}`}`);
}
