import assert from 'node:assert/strict';
import { z } from 'zod';
import type { PersonRoles, Principal } from '../../../functions/src/identity/rules/principal.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

const status = z.object({
  status: z.string(),
  services: z.object({ firebase: z.object({ status: z.string() }) }),
  metrics: z.object({ activeAgents: z.number().optional(), tasksInQueue: z.number().optional(), uptime: z.number() }),
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

  const of = async (principal: Principal) => status.parse(await answer(team, 'system_getSystemStatus', {}, principal));

  before(async () => {
    await Promise.all([team.join('one'), team.join('two')]);
    await team.create({}, {}, {});
    await new Team().join('elsewhere');
  });

  it('counts agents and tasks of the workspace for callers with a role in it', async () => {
    const { metrics } = await of(personWith({ workspaces: { [team.workspace]: 'viewer' } }));
    assert.deepEqual([metrics.activeAgents, metrics.tasksInQueue], [2, 3]);
  });

  for (const [who, roles] of [
    ['has a role only in another workspace', { workspaces: { elsewhere: 'leader' } }],
    ['is an admin without membership', { role: 'admin', workspaces: {} }],
  ] as const)
    it(`returns the health, but no workspace counts, to a caller who ${who}`, async () => {
      const { status: health, services, metrics } = await of(personWith(roles));
      assert.deepEqual([health, services.firebase.status], ['healthy', 'healthy']);
      assert.ok(metrics.uptime >= 0);
      assert.deepEqual([metrics.activeAgents, metrics.tasksInQueue], [undefined, undefined]);
    });

  it('refuses a caller without any role', async () => {
    const { isError } = await call(team, 'system_getSystemStatus', {}, personWith({ workspaces: {} }));
    assert.equal(isError, true);
  });

  it('does not return lists of a private workspace to callers without a role in it', async () => {
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
