/** Mistakes of agents that share a workspace: ids, roles, dependencies, claims and credentials. */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../support/clients.ts';
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

const byLeader = (tool: string, args: object) => (fixture: MistakesFixture) => fixture.call(tool, args);

const profile = {
  agentInfo: { name: 'mistaken-newcomer', type: 'developer', version: '1.0.0' },
  capabilities: [{ name: 'coding', category: 'general' }],
};

/** Creates a task, claims it as the worker, and returns its id. */
async function claimed(fixture: MistakesFixture): Promise<string> {
  const { worker } = fixture;
  await fixture.made('coordination_create_task', { description: `Work ${randomUUID()}` });
  await fixture.made('coordination_register_agent', { agent_id: worker.id, role: 'worker' }, worker);
  const { task } = await fixture.made('coordination_claim_task', { agent_id: worker.id }, worker);
  return isRecord(task) ? String(task['id']) : '';
}

export const teamMistakes: readonly Mistake[] = [
  mistake('claims as an unregistered agent', byLeader('coordination_claim_task', { agent_id: 'ghost' }), {
    happened: /no agent|not registered|may not/i,
    where: /ghost|agent_id/,
    next: /register_agent/,
  }),
  mistake(
    'acts as another agent',
    (fixture) => fixture.call('coordination_heartbeat', { agent_id: fixture.leader.id }, { by: fixture.worker }),
    { happened: /may not|own|not yours|credential/i, where: /agent_id|agent/, next: /Use|your|call as/i },
  ),
  {
    who: 'creates tasks as a worker',
    make: (fixture) => fixture.call('coordination_create_task', { description: 'More work' }, { by: fixture.worker }),
    happened: /requires the role leader; yours is worker/,
    where: /coordination_create_task/,
    next: /Use an agent, person or credential with the role leader/,
  },
  {
    who: 'writes as a viewer',
    make: (fixture) =>
      fixture.call(
        'coding_create_task',
        { tool: 'CLAUDECODE', description: 'x', instructions: 'y' },
        { by: fixture.viewer },
      ),
    happened: /requires the role worker; yours is viewer/,
    where: /coding_create_task/,
    next: /Use an agent, person or credential/,
  },
  mistake(
    'completes a task held by another agent',
    async (fixture) => {
      const id = await claimed(fixture);
      const { leader } = fixture;
      await fixture.made('coordination_register_agent', { agent_id: leader.id, role: 'leader' });
      const reported = await fixture.call('coordination_complete_task', {
        agent_id: leader.id,
        task_id: id,
        output: 'Done',
      });
      await fixture.made(
        'coordination_complete_task',
        { agent_id: fixture.worker.id, task_id: id, output: 'Done' },
        fixture.worker,
      );
      return reported;
    },
    { happened: /held by/, where: /task/, next: /claim_task|only|its agent/i },
  ),
  mistake(
    'completes a task twice, with another result',
    async (fixture) => {
      const id = await claimed(fixture);
      const { worker } = fixture;
      await fixture.made('coordination_complete_task', { agent_id: worker.id, task_id: id, output: 'One' }, worker);
      const again = { agent_id: worker.id, task_id: id, output: 'Two' };
      return fixture.call('coordination_complete_task', again, { by: worker });
    },
    { happened: /already|done/i, where: /task/, next: /claim|get_results|Nothing/i },
  ),
  mistake(
    'names an unknown task',
    (fixture) =>
      fixture.call(
        'coordination_start_task',
        { agent_id: fixture.worker.id, task_id: 'task-42' },
        { by: fixture.worker },
      ),
    { happened: /no task|not found/i, where: /task-42/, next: /get_all_tasks|claim_task/ },
  ),
  mistake(
    'creates tasks that depend on each other',
    byLeader('coordination_create_tasks_batch', {
      tasks: [
        { description: 'One', dependencies: ['task-2'] },
        { description: 'Two', dependencies: ['task-1'] },
      ],
    }),
    { happened: /cycle|each other|unknown|no task/i, where: /tasks\.\d|task-[12]/, next: /Remove one of/ },
  ),
  mistake(
    'depends on an unknown task',
    byLeader('coordination_create_task', { description: 'Wait', dependencies: ['task-42'] }),
    { happened: /no task|unknown|does not exist/i, where: /dependencies|task-42/, next: /get_all_tasks/ },
  ),
  mistake(
    'reads the plan of a workspace without a goal',
    (fixture) =>
      fixture.http(fixture.url('/coordination', { workspace: `empty-${randomUUID().slice(0, 8)}` }), {
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'get_master_plan', arguments: {} },
        }),
      }),
    { happened: /no goal yet/, where: /Workspace .{0,2}empty-/, next: /init_coordination/ },
  ),
  mistake(
    'registers an agent of an unknown type',
    byLeader('onboarding_registerAgent', { ...profile, agentInfo: { ...profile.agentInfo, type: 'coder' } }),
    { happened: /Invalid|expected/i, where: /agentInfo\.type/, next: /researcher.*developer.*coordinator/ },
  ),
  mistake(
    'registers an agent with a role above its own',
    (fixture) => fixture.call('onboarding_registerAgent', { ...profile, role: 'leader' }, { by: fixture.worker }),
    { happened: /role/, where: /leader/, next: /Ask|worker/ },
  ),
  mistake('reads the checklist of an unknown agent', byLeader('onboarding_getChecklist', { agentId: 'nobody' }), {
    happened: /no agent|not found/i,
    where: /agentId/,
    next: /getAgents|registerAgent/,
  }),
];
