/** What becomes of the tasks that a run has in the work queue when it ends without them: they are cancelled. */
import type { TaskReader } from '../../readers.ts';
import type { Change } from '../../store.ts';
import { settlementChanges } from '../../tasks/changes.ts';
import { cancelTask } from '../../tasks/machine.ts';
import { isClosed } from '../../tasks/task.ts';
import { tasksOfRun } from '../network.ts';
import { isEnded, type Run } from './run.ts';

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
