import type { Change } from '../store.ts';
import type { Task } from './task.ts';

/**
 * Moves a task from the counter of its former state, if it had one, to that of its new one. Its first claim
 * also adds its wait to those of the session.
 */
export function countedChange(before: Task | undefined, after: Task, at: Date): Change {
  const moved = before?.status !== after.status;
  const from = moved && before ? { [before.status]: -1 } : {};
  const to = moved ? { [after.status]: 1 } : {};
  const isFirstClaim = after.status === 'claimed' && before?.epoch === 0 && after.epoch === 1;
  return {
    kind: 'count',
    workspace: after.workspace,
    session: after.session,
    by: { ...from, ...to },
    at,
    ...(isFirstClaim && { waited: Math.max(0, at.getTime() - after.createdAt.getTime()) }),
  };
}
