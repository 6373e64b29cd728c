/** Calls every tool and reads every resource in an active workspace. If a call is missing, the benchmark fails. */
import { idOf } from '../load/client.ts';
import type { Cast, Ledger } from './costLedger.ts';
import { playAccess } from './costOfAccess.ts';
import { playCoding } from './costOfCoding.ts';
import { playData } from './costOfData.ts';
import { playGitHub } from './costOfGitHub.ts';
import { playOrchestration } from './costOfOrchestration.ts';
import { playSignIn } from './costOfSignIn.ts';
import { playSteering } from './costOfSteering.ts';
import { playTaskActions } from './costOfTaskActions.ts';
import { playTodos } from './costOfTodos.ts';

/** After this many discoveries, each counter document of the session has been written. */
const ENOUGH_FOR_ALL_COUNTERS = 150;
const DEPENDENTS = 2;

/** More tasks than an instance reads ahead from the queue. */
const TASKS = 30;

export async function playEveryTool(cast: Cast, ledger: Ledger): Promise<void> {
  await begin(cast, ledger);
  await fillCounters(cast);
  await work(cast, ledger);
  await look(cast, ledger);
  await playTaskActions(cast, ledger);
  await playTodos(cast, ledger);
  await playSteering(cast, ledger);
  await playData(cast, ledger);
  await playGitHub(cast, ledger);
  await playCoding(cast, ledger);
  await playOrchestration(cast, ledger);
  await playAccess(cast, ledger);
  await playSignIn(cast, ledger);
}

async function begin({ leader, worker, workerId }: Cast, ledger: Ledger): Promise<void> {
  const profile = { agentInfo: { name: 'newcomer', type: 'developer', version: '1.0.0' } };
  const newcomer = { ...profile, capabilities: [{ name: 'coding', category: 'general' }] };
  await ledger.call(leader, 'onboarding.registerAgent', newcomer, 'a new agent');
  await ledger.call(leader, 'onboarding.registerAgent', newcomer, 'a known agent');
  await ledger.call(leader, 'coordination.init_coordination', { goal: 'First' }, 'no session exists');
  await ledger.call(leader, 'coordination.init_coordination', { goal: 'Second' }, 'archives the old session');
  await ledger.call(worker, 'coordination.register_agent', { agent_id: workerId, role: 'worker' });
  await ledger.call(worker, 'coordination.heartbeat', { agent_id: workerId });
}

async function fillCounters({ worker, workerId }: Cast): Promise<void> {
  const discovery = { agent_id: workerId, content: 'A session has eight counter documents.', tags: ['counters'] };
  for (let count = 0; count < ENOUGH_FOR_ALL_COUNTERS; count++)
    await worker.call('coordination.add_discovery', discovery);
}

async function work({ leader, worker, workerId }: Cast, ledger: Ledger): Promise<void> {
  const task = { description: 'A task', priority: 5 };
  const create = (tool: string, args: object, situation?: string) => ledger.call(leader, tool, args, situation);
  const { task: created } = await create('coordination.create_task', { ...task, priority: 1 });
  const first = idOf(created);
  const dependent = { ...task, dependencies: [first] };
  for (let count = 0; count < DEPENDENTS; count++)
    await create('coordination.create_task', dependent, 'with one dependency');
  await create(
    'coordination.create_tasks_batch',
    { tasks: Array.from({ length: TASKS }, () => task) },
    `creates ${TASKS} tasks`,
  );

  const claim = (situation: string, in_hand?: readonly string[]) =>
    ledger.call(worker, 'coordination.claim_task', { agent_id: workerId, in_hand }, situation);
  const mine = { agent_id: workerId, task_id: first };
  await claim('reads the first tasks of the queue, as about one claim in 40 does');
  await ledger.call(worker, 'coordination.start_task', mine);
  await ledger.call(worker, 'coordination.complete_task', { ...mine, output: 'Done.' }, `unblocks ${DEPENDENTS} tasks`);
  const { task: freed } = await claim('after tasks became claimable');
  const heldTaskIds = [idOf(freed)];
  const { task: second } = await claim('any other claim', heldTaskIds);
  await ledger.call(worker, 'coordination.complete_task', { ...mine, task_id: idOf(second), output: 'Done.' });
  const { task: third } = await claim('reads more tasks of the queue', heldTaskIds);
  await ledger.call(worker, 'coordination.fail_task', { ...mine, task_id: idOf(third), error: 'No.' });
}

async function look({ leader, worker, workerId }: Cast, ledger: Ledger): Promise<void> {
  const discovery = { agent_id: workerId, content: 'Passwords are hashed.', tags: ['auth'] };
  await ledger.call(worker, 'coordination.add_discovery', discovery);
  await ledger.call(leader, 'coordination.get_status', {});
  await ledger.call(leader, 'coordination.get_all_tasks', { limit: 10 }, 'returns 10 tasks, and reads one more');
  await ledger.call(leader, 'coordination.get_results', {}, 'returns the results of 2 tasks');
  await ledger.call(leader, 'coordination.get_discoveries', {}, 'returns 20 discoveries, and reads one more');
  await ledger.call(leader, 'coordination.get_master_plan', {});
  await ledger.call(leader, 'system.getTaskQueue', {}, 'returns 20 tasks, and reads one more');
  await ledger.call(leader, 'system.getTaskQueue', {}, 'the queue is unchanged since the previous call');
  await ledger.call(leader, 'system.getTaskQueue', { agentId: workerId }, 'for an agent that holds no task');
  await ledger.call(leader, 'system.getAgents', {}, 'returns 3 agents');
  await ledger.call(leader, 'system.listSkills', {}, 'returns all tools and one capability');
  await ledger.call(leader, 'system.getSystemStatus', {});
  await ledger.call(leader, 'onboarding.getChecklist', { agentId: workerId });
  await ledger.call(leader, 'onboarding.getWelcome', { agentName: 'Ada', role: 'developer' });
  await ledger.read(leader, 'coordination://status');
  await ledger.read(leader, 'coordination://tasks', `returns all ${TASKS + DEPENDENTS + 1} tasks`);
  await ledger.read(leader, 'coordination://discoveries', 'returns 100 discoveries, and reads one more');
  await ledger.read(leader, 'coordination://master-plan');
}
