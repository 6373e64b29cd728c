/** Calls every task action, and the tool that restores an archived session. */
import type { Cast, Ledger } from './costLedger.ts';

export async function playTaskActions({ leader, worker, workerId }: Cast, ledger: Ledger): Promise<void> {
  const lever = (tool: string, args: object, situation?: string) =>
    ledger.call(leader, `coordination.${tool}`, args, situation);
  const { task } = await leader.call('coordination.create_task', { description: 'A task', priority: 1 });
  const task_id = idOf(task);
  await lever('update_task', { task_id, description: 'Another task' }, 'its description');
  await lever('update_task', { task_id, priority: 2, dependencies: [] }, 'its place in the queue');
  const claimed = await worker.call('coordination.claim_task', { agent_id: workerId, in_hand: [] });
  await lever('release_task', { task_id: idOf(claimed['task']) });
  await lever('cancel_task', { task_id });
  await lever('retry_task', { task_id }, 'without dependents');
  await leader.call('coordination.create_task', { description: 'After it', dependencies: [task_id] });
  await lever('cancel_task', { task_id }, 'one task depends on it');
  await lever('get_all_tasks', { status_filter: 'stuck' }, 'one task is stuck');
  await lever('retry_task', { task_id, with_dependents: true }, 'one task depends on it');
  await lever('message_agent', { agent_id: workerId, message: 'Look' });
  await lever('reopen', {}, 'the session that was archived last');
  await leader.call('coordination.reopen', {});
}

function idOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'id' in value) return String(value.id);
  throw new Error('No item with an id was returned.');
}
