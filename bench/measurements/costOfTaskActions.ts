/** Calls every task action, and the tool that restores an archived session. */
import { idOf } from '../load/client.ts';
import type { Cast, Ledger } from './costLedger.ts';

export async function playTaskActions({ leader, worker, workerId }: Cast, ledger: Ledger): Promise<void> {
  const lever = (tool: string, args: object, situation?: string) =>
    ledger.call(leader, `coordination.${tool}`, args, situation);
  const { task } = await leader.call('coordination.create_task', { description: 'A task', priority: 1 });
  const task_id = idOf(task);
  await lever('update_task', { task_id, description: 'Another task' }, 'changes the description');
  await lever('update_task', { task_id, priority: 2, dependencies: [] }, 'changes the place in the queue');
  const claimed = await worker.call('coordination.claim_task', { agent_id: workerId, in_hand: [] });
  await lever('release_task', { task_id: idOf(claimed['task']) });
  await lever('cancel_task', { task_id });
  await lever('retry_task', { task_id }, 'no task depends on the task');
  await leader.call('coordination.create_task', { description: 'After it', dependencies: [task_id] });
  await lever('cancel_task', { task_id }, 'another task depends on the task');
  await lever('get_all_tasks', { status_filter: 'stuck' }, 'returns one stuck task');
  await lever('retry_task', { task_id, with_dependents: true }, 'another task depends on the task');
  await playFiles({ leader, worker, workerId }, ledger);
  await lever('message_agent', { agent_id: workerId, message: 'Look' });
  await lever('reopen', {}, 'restores the session that was archived last');
  await leader.call('coordination.reopen', {});
}

/** Claims tasks that name files. Each claim returns its task, so that the next one does not get it again. */
async function playFiles({ leader, worker, workerId }: Pick<Cast, 'leader' | 'worker' | 'workerId'>, ledger: Ledger) {
  const create = async (files: readonly string[]) => {
    const draft = { description: 'A task with files', priority: 1, context_files: files };
    return idOf((await leader.call('coordination.create_task', draft))['task']);
  };
  const claim = (in_hand: readonly string[], situation: string) =>
    ledger.call(worker, 'coordination.claim_task', { agent_id: workerId, in_hand }, situation);
  const first = await create(['src/**']);
  await claim([], 'of a task that names files');
  const second = await create(['src/a.ts']);
  await create(['docs/']);
  const { task } = await claim([first], 'skips one task whose files are reserved, and claims one that names files');
  const report = (task_id: string, situation: string) =>
    ledger.call(worker, 'coordination.complete_task', { agent_id: workerId, task_id, output: 'Done.' }, situation);
  await report(first, 'had reserved files');
  await report(idOf(task), 'had reserved files');
  await leader.call('coordination.cancel_task', { task_id: second });
}
