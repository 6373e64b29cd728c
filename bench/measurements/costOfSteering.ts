/** Calls the tools for questions, approvals, the audit log, undo, delegation, the work tree and budgets. */
import { preferencesPath } from '../../functions/src/kernel/firestore/paths.ts';
import { idOf } from '../load/client.ts';
import { OWNER, type Project } from '../seed.ts';
import type { Cast, Ledger } from './costLedger.ts';

/** Allows an agent to answer questions on behalf of the owner of all callers. */
export async function letAnswer({ firestore }: Project, agentId: string): Promise<void> {
  await firestore.doc(preferencesPath(OWNER)).set({ agents_may_answer: [agentId] });
}

export async function playSteering(cast: Cast, ledger: Ledger): Promise<void> {
  await ask(cast, ledger);
  await undo(cast, ledger);
  await relate(cast, ledger);
}

async function ask({ leader, worker, workerId }: Cast, ledger: Ledger): Promise<void> {
  const question = { question: 'Go on?', kind: 'approval' };
  const { request_id } = await ledger.call(leader, 'inbox.ask', question, 'without a task');
  await ledger.call(leader, 'inbox.wait', { request_id, wait_ms: 0 }, 'the question is open');
  await ledger.call(worker, 'inbox.list', {}, 'returns the only question');
  await ledger.call(worker, 'inbox.answer', { request_id, answer: 'approve' }, 'by a delegated agent');
  await ledger.call(leader, 'inbox.wait', { request_id, wait_ms: 0 }, 'the question is answered');
  await leader.call('coordination.create_task', { description: 'A task', priority: 1 });
  const { task } = await worker.call('coordination.claim_task', { agent_id: workerId, in_hand: [] });
  const about = { ...question, task_id: idOf(task) };
  const asked = await ledger.call(worker, 'inbox.ask', about, 'about a task, which then waits for the answer');
  const named = { request_id: asked['request_id'] };
  await ledger.call(worker, 'inbox.withdraw', named, 'of a question about a task; the task then continues');
  await leader.call('coordination.cancel_task', { task_id: idOf(task) });
}

async function undo({ leader }: Cast, ledger: Ledger): Promise<void> {
  await leader.call('todo.add_task', { title: 'Milk' });
  const { events } = await ledger.call(leader, 'system.getAudit', { limit: 10 }, 'returns 10 events, reads 11');
  const event_id = Array.isArray(events) ? Object(events[0]).event_id : undefined;
  await ledger.call(leader, 'system.undo', { event_id }, 'undoes the creation of a to-do');
  await ledger.call(leader, 'system.undo', { event_id: await latest({ leader }) }, 'undoes the previous undo');
}

async function latest({ leader }: Pick<Cast, 'leader'>): Promise<unknown> {
  const { events } = await leader.call('system.getAudit', { limit: 1 });
  return Array.isArray(events) ? Object(events[0]).event_id : undefined;
}

async function relate({ leader }: Cast, ledger: Ledger): Promise<void> {
  const { task: todo } = await leader.call('todo.add_task', { title: 'Greet all' });
  const { delegated } = await ledger.call(leader, 'todo.delegate', { task_id: idOf(todo) });
  const part_of = { kind: 'task', id: Object(delegated).task_id };
  const part = { description: 'Say hello', part_of };
  const { task } = await ledger.call(leader, 'coordination.create_task', part, 'first part of a delegated task');
  await ledger.call(leader, 'coordination.create_task', part, 'second part of that task');
  const named = { kind: 'todo', id: idOf(todo) };
  await ledger.call(leader, 'system.getTree', named, 'returns four items');
  await ledger.call(leader, 'system.setBudget', { ...named, money: 5 }, 'of a to-do');
  await ledger.call(leader, 'coordination.cancel_task', { task_id: idOf(task) }, 'of a part of a delegated task');
}
