/** Tasks whose result is there, and which are done when everything below them is. Source: docs/semantics.md#one-graph. */
import type { Claim, Claimant, Task, TaskResult } from './task.ts';

/** Nobody holds it any more: what is still to be done is done by those who have its parts. */
export function awaitParts(
  { claim: _relieved, ...task }: Task,
  { agentId, epoch }: Claim,
  result: TaskResult,
  since: Date,
): Task {
  return { ...task, status: 'waiting', result, partsAwaited: { agentId, epoch, since, failed: [] } };
}

/**
 * What becomes of a task whose result is there, now that something below it has changed; the very same where nothing
 * does.
 * @param below how much of that is open, and what of it has failed; what was cancelled is not wanted
 */
export function partsChanged(
  task: Task,
  below: { readonly open: number; readonly failed: readonly string[] },
  now: Date,
): Task {
  const { open, failed } = below;
  const { partsAwaited: awaited } = task;
  if (task.status !== 'waiting' || awaited === undefined) return task;
  if (open === 0 && failed.length === 0) return { ...task, status: 'done', closedAt: now };
  if (JSON.stringify(failed) === JSON.stringify(awaited.failed)) return task;
  return { ...task, partsAwaited: { ...awaited, failed } };
}

/** Whether it was the claimant who reported the result that waits, or waited, for what is below. */
export function hasReported({ partsAwaited: awaited }: Task, { agentId, epoch }: Claimant): boolean {
  return awaited?.agentId === agentId && (epoch === undefined || epoch === awaited.epoch);
}
