/** system.getSystemStatus: of the deployment to whoever has a role, of a workspace to whoever has one there. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { PersonRoles, Principal } from '../../../functions/src/identity/rules/principal.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

const status = z.object({
  status: z.string(),
  services: z.object({ firebase: z.object({ status: z.string() }) }),
  metrics: z.object({
    activeAgents: z.number().optional(),
    tasksInQueue: z.number().optional(),
    uptime: z.number(),
  }),
});

describe('system.getSystemStatus', () => {
  const team = new Team();
  const access = { [team.workspace]: 'private', elsewhere: 'private' } as const;

  const personWith = (roles: Omit<PersonRoles, 'access'>): Principal => ({
    uid: 'somebody',
    kind: 'person',
    owner_uid: 'somebody',
    maxRole: 'admin',
    owner: { ...roles, access },
  });

  const of = async (principal: Principal) =>
    status.parse(await answer(team, 'system_getSystemStatus', {}, principal));

  before(async () => {
    await Promise.all([team.join('one'), team.join('two')]);
    await team.create({}, {}, {});
    await new Team().join('elsewhere');
  });

  it('counts the agents and the tasks of the workspace for who has a role there', async () => {
    const { metrics } = await of(personWith({ workspaces: { [team.workspace]: 'viewer' } }));
    assert.deepEqual([metrics.activeAgents, metrics.tasksInQueue], [2, 3]);
  });

  for (const [who, roles] of [
    ['has one elsewhere alone', { workspaces: { elsewhere: 'leader' } }],
    ['administers the deployment and is no member', { role: 'admin', workspaces: {} }],
  ] as const) {
    it(`tells who ${who} how the deployment is, and nothing of the workspace`, async () => {
      const { status: health, services, metrics } = await of(personWith(roles));
      assert.deepEqual([health, services.firebase.status], ['healthy', 'healthy']);
      assert.ok(metrics.uptime >= 0);
      assert.deepEqual([metrics.activeAgents, metrics.tasksInQueue], [undefined, undefined]);
    });
  }

  it('tells who has no role nothing', async () => {
    const { isError } = await call(team, 'system_getSystemStatus', {}, personWith({ workspaces: {} }));
    assert.equal(isError, true);
  });

  it('leaves lists of a private workspace to who has a role there', async () => {
    const member = personWith({ workspaces: { [team.workspace]: 'viewer' } });
    const admin = personWith({ role: 'admin', workspaces: { elsewhere: 'leader' } });
    for (const tool of [
      'system_getAgents',
      'system_listSkills',
      'system_getTaskQueue',
      'orchestration_list_agents',
      'coordination_get_status',
      'coordination_get_discoveries',
    ]) {
      assert.equal((await call(team, tool, {}, member)).isError, undefined, tool);
      assert.equal((await call(team, tool, {}, admin)).isError, true, tool);
    }
  });
});
