/** Who may see and cancel a run, and what is cancelled with it. Source: docs/decisions/0021-runs.md. */
import { hasRole, type Principal } from '../../../../access/rules/principal.ts';
import type { Change, RecordAnswer, Versioned } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { readFor } from '../../../../kernel/ports.ts';
import { retryStale } from '../../../../kernel/waiting.ts';
import { cancelTask, isClosed, outcomeChanges } from '../../../coordination/index.ts';
import { tasksOfRun } from '../network.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { ended, isEnded, isLeased, type Run } from './run.ts';

/**
 * A run is seen by its owner, the owner's agents and leaders. Those of them that may call `cancel_run` may cancel it.
 * @throws MusterError NOT_FOUND for everybody else, as if there were none
 */
export async function visibleRun(
  { runs }: OrchestrationPorts,
  principal: Principal,
  runId: string,
): Promise<Versioned<Run>> {
  const reading = runs.find(runId);
  const isLeader = hasRole(principal.role, 'leader');
  const found = await (isLeader ? reading : readFor(principal.ownerUid, reading));
  if (found !== undefined && (isLeader || found.value.ownerUid === principal.ownerUid)) return found;
  throw new MusterError('NOT_FOUND', `No run "${runId}".`, {
    field: 'runId',
    value: runId,
    suggestion: 'list_runs lists your runs.',
  });
}

/**
 * Ends the run: at once where nobody executes it, else as soon as its instance sees that. What has settled stays.
 * @throws MusterError NOT_FOUND, or CONFLICT where it has succeeded or failed
 */
export function cancelRun(
  ports: OrchestrationPorts,
  principal: Principal,
  runId: string,
  recordAnswer: RecordAnswer<Run>,
): Promise<Run> {
  const { tasks, store, clock, randomness } = ports;
  return retryStale(randomness, async () => {
    const { value, version } = await visibleRun(ports, principal, runId);
    if (isEnded(value) && value.status !== 'cancelled') throw alreadyEnded(value);
    const now = clock.now();
    const asked = { ...value, cancelRequested: true };
    const run = isEnded(value) || isLeased(value, now) ? asked : ended(asked, { status: 'cancelled' }, now);
    const cancelled = isEnded(value) ? [] : await taskCancellations(tasks, run, now);
    await store.commit([{ kind: 'replaceRun', run, version }, ...cancelled], recordAnswer(run));
    return run;
  });
}

function alreadyEnded({ id, status }: Run): MusterError {
  return new MusterError('CONFLICT', `Run "${id}" has ${status} already.`, {
    field: 'runId',
    value: id,
    reason: 'ALREADY_ENDED',
    suggestion: 'get_run tells what it came to.',
  });
}

/** Cancels the open tasks of a run that has ended, as when an instance made one that had lost the run. */
export function cancelOpenTasks(ports: OrchestrationPorts, runId: string): Promise<void> {
  const { runs, tasks, store, clock, randomness } = ports;
  return retryStale(randomness, async () => {
    const run = (await runs.find(runId))?.value;
    const changes = run === undefined ? [] : await taskCancellations(tasks, run, clock.now());
    if (changes.length > 0) await store.commit(changes);
  });
}

/**
 * Cancels the tasks that a run still has open when it ends, whether or not an agent has claimed them. Each change is
 * of the version that was read, so that a result which comes first stands. Changes nothing where the run goes on or has succeeded.
 */
export async function taskCancellations(
  tasks: OrchestrationPorts['tasks'],
  run: Run,
  now: Date,
): Promise<readonly Change[]> {
  if (!isEnded(run) || run.status === 'succeeded') return [];
  const found = await tasks.startingWith(tasksOfRun(run.id));
  return found
    .filter(({ value }) => !isClosed(value.status))
    .flatMap(({ value: before, version }) => {
      const task = cancelTask(before, reasonOf(run), now);
      return outcomeChanges(before, { kind: 'accepted', task }, version, now);
    });
}

function reasonOf({ id, status }: Run): string {
  return status === 'cancelled'
    ? `The run ${id} that it belongs to was cancelled.`
    : `The run ${id} that it belongs to has failed.`;
}
