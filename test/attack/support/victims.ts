/** Existing items that hostile arguments name. Calls with an unknown id would end early with "not found". */
import { randomUUID } from 'node:crypto';
import type { McpCaller } from '../../../bench/load/client.ts';
import { isRecord } from '../../e2e/support/clients.ts';

/** Valid values, by argument name. If the value is undefined, the call omits the argument. */
export type Victims = Readonly<Record<string, readonly unknown[]>>;

/** Number of items of each kind. One is not enough, because some tools close an item. */
const VICTIMS = 3;

/** Most calls omit these arguments, because a tool rejects an unknown cursor or workspace before it reads anything. */
const ANY_CALL: Victims = { cursor: [undefined], workspace: [undefined] };

const EARLIER = '2026-02-10T00:00:00Z';
const LATER = '2099-02-11T17:00:00Z';

/** Creates a task that the agent holds, in the workspace of the agent. */
export async function newTask(client: McpCaller, agentId: string): Promise<Victims> {
  const created = await client.call('coordination_create_task', { description: 'A victim' });
  const id = idOf(created['task']);
  await client.call('coordination_register_agent', { agent_id: agentId, role: 'worker' });
  await client.call('coordination_claim_task', { agent_id: agentId });
  return {
    ...ANY_CALL,
    agent_id: [agentId],
    task_id: [id],
    task_ids: [[id]],
    kind: ['task'],
    id: [id],
    lease_seconds: [600],
    dependencies: [[id], undefined],
    part_of: [{ kind: 'task', id }, undefined],
    deadline: [LATER, undefined],
    session_id: [undefined],
  };
}

/** Creates to-dos of the caller with reminders, and recurring to-dos. Completed to-dos have no reminders. */
export async function newTodos(client: McpCaller, areCompleted: boolean): Promise<Victims> {
  const ids: string[] = [];
  const recurring: string[] = [];
  for (let number = 0; number < VICTIMS; number++) {
    const rule = { frequency: 'DAILY', start_date: LATER };
    const title = `A victim ${randomUUID()}`;
    const started = await client.call('todo_create_recurring_task', { title, ...rule });
    const task_id = idOf(started['first_occurrence']);
    if (areCompleted) await client.call('todo_complete_task', { task_id });
    ids.push(task_id);
    recurring.push(idOf(started['recurring_task']));
  }
  return {
    ...ANY_CALL,
    task_id: ids,
    reminder_id: ids, // A reminder has the same id as its to-do.
    recurring_task_id: recurring,
    part_of: [{ kind: 'todo', id: ids[0] }, undefined],
    due_date: [LATER],
    due_before: [LATER],
    due_after: [EARLIER],
    remind_at: [LATER],
    start_date: [LATER],
    end_date: [LATER],
    timezone: ['UTC', 'Europe/Berlin'],
    when: [undefined, 'every second Monday 9:00'],
    days: [undefined],
    required_capabilities: [undefined],
  };
}

/** Creates questions from the agent to its owner, and a task that the agent holds and may ask about. */
export async function newRequests(client: McpCaller, agentId: string): Promise<Victims> {
  const ids: string[] = [];
  for (let number = 0; number < VICTIMS; number++) {
    const asked = { question: 'A victim?', kind: 'text' };
    ids.push(String((await client.call('inbox_ask', asked))['request_id']));
  }
  await newTask(client, agentId);
  const { task } = await client.call('coordination_claim_task', { agent_id: agentId });
  return {
    ...ANY_CALL,
    request_id: ids,
    task_id: [idOf(task), undefined],
    wait_ms: [0],
    expires: [undefined],
    to: [undefined],
  };
}

/** Creates a run whose questions are already answered, so that asking them again takes no time. */
export async function newRun(client: McpCaller): Promise<Victims> {
  const prompt = `A victim ${randomUUID()}`;
  const { runId } = await client.call('orchestration_execute_code', { prompt });
  return {
    ...ANY_CALL,
    runId: [runId],
    prompt: [prompt],
    input: [prompt],
    workflow: ['direct', 'auto'],
    agents: [['claude'], ['claude', 'gemini']],
    agent: ['gemini', 'auto'],
    role: ['execute'],
    name: ['victim'],
    part_of: [undefined],
    timeout: [0],
    waitMs: [0],
  };
}

/** Creates a coding task that the caller (a runner) holds, and other coding tasks that the caller may claim. */
export async function newCodingTask(client: McpCaller): Promise<Victims> {
  const ids: string[] = [];
  for (let number = 0; number < VICTIMS; number++) {
    const work = { tool: 'CLAUDECODE', description: 'A victim', instructions: 'Suffer.' };
    const { result } = await client.call('coding_create_task', work);
    ids.push(idOf(isRecord(result) ? result['task'] : undefined));
  }
  await client.call('coding_register_runner', { programs: [{ name: 'claude', version: '1' }] });
  const [first] = ids;
  await client.call('coding_claim_task', { taskId: first });
  return {
    ...ANY_CALL,
    agentId: [undefined],
    taskId: ids,
    dependencies: [ids],
    part_of: [{ kind: 'task', id: first }, undefined],
    epoch: [1],
    leaseSeconds: [undefined, 60],
    entries: [[{ sequence: 1, at: EARLIER, level: 'info', type: 'agent', message: 'Ow.' }]],
    tool: ['CLAUDECODE'],
    tools: [['CLAUDECODE']],
    programs: [[{ name: 'claude', version: '1' }]],
    branch: [undefined, 'victim'],
    project: [undefined],
    waitMs: [0],
  };
}

function idOf(value: unknown): string {
  if (!isRecord(value)) throw new Error('The tool did not return the created object.');
  return String(value['id']);
}
