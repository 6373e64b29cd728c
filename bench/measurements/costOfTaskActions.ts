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
  await lever('message_agent', { agent_id: workerId, message: 'Look' });
  await lever('reopen', {}, 'restores the session that was archived last');
  await leader.call('coordination.reopen', {});
}
