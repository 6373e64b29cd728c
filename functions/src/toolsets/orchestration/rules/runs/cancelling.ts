/** Cancels runs whose results are no longer needed. Source: docs/semantics.md#orchestration. */
import type { Versioned } from '../../../../kernel/commit.ts';
import { retryOnConflict } from '../../../../kernel/concurrency.ts';
import { skipUnreadable } from '../../../../kernel/ports.ts';
import { cancelTask, isClosed, outcomeChanges, type Task } from '../../../coordination/index.ts';
import { chargeOf } from '../calls/journal.ts';
import type { OrchestrationChange, OrchestrationPorts } from '../ports.ts';
import { usageOf, workOf } from '../steps/step.ts';
import { endedRun, isEnded, isLeased, type Run } from './run.ts';

/** Cancels a run and its tasks, or asks the executing instance to do so. @param why warning to add to the run */
export async function cancellationOf(
  ports: OrchestrationPorts,
  { value, version }: Versioned<Run>,
  why?: string,
): Promise<{ readonly run: Run; readonly changes: readonly OrchestrationChange[] }> {
  const now = ports.clock.now();
  const warnings = why === undefined ? value.warnings : [...value.warnings, why];
  const asked = { ...value, cancel_requested: true, warnings };
  const run = isEnded(value) || isLeased(value, now) ? asked : await cancelled(ports, asked, now);
  const tasks = isEnded(value) ? [] : await taskCancellations(ports.tasks, run, now);
  return { run, changes: [{ kind: 'replaceRun', run, before: value, version }, ...tasks] };
}

/** Cancels a run unless it has ended or was cancelled before. Returns whether this call has cancelled the run. */
export function cancelOpenRun(ports: OrchestrationPorts, runId: string, why: string, isWanted = (_: Run) => true) {
  return retryOnConflict(ports.randomness, async () => {
    const found = await skipUnreadable(ports.runs.find(runId));
    if (found === undefined || isEnded(found.value) || found.value.cancel_requested) return false;
    if (!isWanted(found.value)) return false;
    await ports.store.commit((await cancellationOf(ports, found, why)).changes);
    return true;
  });
}

/** Returns the warning of a run that was cancelled because this task was cancelled. */
export function cancelReason({ id, error }: Task): string {
  return `The task ${id} was cancelled${error === undefined ? '.' : `: ${error}`}`;
}

/** Ends a run that no instance is executing. Its cost includes a step during which an instance crashed. */
async function cancelled(ports: OrchestrationPorts, run: Run, now: Date): Promise<Run> {
  const booked = run.status === 'running' || run.budget_wait ? await recordedCostOf(ports, run) : {};
  return endedRun({ ...run, ...booked }, { status: 'cancelled' }, now);
}

/** Returns the cost of all calls, including calls of failed steps; the stored cost if the journal is unreadable. */
export async function recordedCostOf(
  { runs, hosted, log }: OrchestrationPorts,
  run: Run,
): Promise<Pick<Run, 'spent' | 'worked'>> {
  try {
    const attempts = (await runs.calls(run.id)).map((entry) => chargeOf(entry, hosted()));
    return { spent: usageOf(attempts), worked: workOf(attempts) };
  } catch (error) {
    log.warn('run_not_booked', { runId: run.id, error });
    return { spent: run.spent, ...(run.worked && { worked: run.worked }) };
  }
}

/** Cancels the open tasks of an unsuccessful run. A task whose result arrives at the same time keeps the result. */
export async function taskCancellations(
  tasks: OrchestrationPorts['tasks'],
  run: Run,
  now: Date,
): Promise<readonly OrchestrationChange[]> {
  if (!isEnded(run) || run.status === 'succeeded') return [];
  const end = run.status === 'cancelled' ? 'was cancelled' : 'has failed';
  return (await tasks.withIdPrefix(`${run.id}-`))
    .filter(({ value }) => !isClosed(value.status))
    .flatMap(({ value: before, version }) => {
      const task = cancelTask(before, `Its run ${run.id} ${end}.`, now);
      return outcomeChanges(before, { kind: 'accepted', task }, version, now);
    });
}
