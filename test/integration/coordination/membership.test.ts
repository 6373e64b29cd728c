/** register_agent and heartbeat: who may register whom, and act as whom. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/access/rules/principal.ts';
import { refusal } from '../../unit/samples.ts';
import { Team, unkeyed } from './team.ts';

describe('membership', () => {
  let team: Team;

  const join = (
    as: Principal,
    agentId: string,
    role: 'leader' | 'worker' = 'worker',
    capabilities?: string[],
  ) =>
    team.app.services.membership.join(
      as,
      { agentId, role, workspace: team.workspace, capabilities },
      unkeyed,
    );
  const person = (uid: string, role: Principal['role'] = 'worker'): Principal => ({
    uid,
    kind: 'person',
    ownerUid: uid,
    role,
  });
  const counted = async () => (await team.app.services.coordination.status(team.workspace)).members;

  beforeEach(() => {
    team = new Team();
  });

  it('registers an agent that registers itself', async () => {
    const ann = team.principal('ann');
    const { agent, currentTask } = await join(ann, team.agentId('ann'), 'worker', ['coding']);
    assert.deepEqual(
      [agent.role, agent.coordinationRole, agent.ownerUid],
      ['worker', 'worker', ann.ownerUid],
    );
    assert.deepEqual([agent.lastSeen, agent.tasksCompleted, currentTask], [team.now, 0, null]);
    assert.deepEqual(agent.capabilities, [{ name: 'coding', category: 'declared' }]);
    assert.deepEqual((await team.app.ports.agents.find(agent.id))?.value, agent);
    assert.deepEqual((await team.app.ports.presence.lastSeen([agent.id])).get(agent.id), team.now);
  });

  it('keeps capabilities that are not named again, and replaces those that are', async () => {
    const [as, id] = [team.principal('ann'), team.agentId('ann')];
    const named = async (capabilities?: string[]) =>
      (await join(as, id, 'worker', capabilities)).agent.capabilities.map(({ name }) => name);
    assert.deepEqual(await named(['a', 'b']), ['a', 'b']);
    assert.deepEqual(await named(), ['a', 'b']);
    assert.deepEqual(await named(['c']), ['c']);
    assert.deepEqual(await named([]), []);
  });

  it('tells the task in hand', async () => {
    const ann = await team.join('ann');
    const { id } = await team.createOne();
    await team.claim(ann);
    assert.equal((await join(team.principal('ann'), ann)).currentTask, id);
    await team.app.services.coordination.initialise(team.workspace, 'One', undefined, unkeyed);
    await team.app.services.coordination.initialise(team.workspace, 'Two', undefined, unkeyed);
    assert.equal((await join(team.principal('ann'), ann)).currentTask, null, 'of the open session only');
  });

  it('counts leaders and workers of a workspace, each once', async () => {
    await join(team.leader, team.agentId('lead'), 'leader');
    await team.join('ann');
    await team.join('ann');
    await team.join('bob');
    assert.deepEqual(await counted(), { total: 3, leaders: 1, active: 3 });
    const elsewhere = {
      agentId: team.agentId('bob'),
      role: 'worker' as const,
      workspace: `${team.workspace}-2`,
    };
    await team.app.services.membership.join(team.principal('bob'), elsewhere, unkeyed);
    assert.deepEqual(await counted(), { total: 2, leaders: 1, active: 2 });
  });

  it('lets only leaders be leaders', async () => {
    const error = await refusal(() => join(team.principal('ann'), team.agentId('ann'), 'leader'));
    assert.deepEqual([error.code, error.details.field], ['FORBIDDEN', 'role']);
    await join(team.principal('ann', 'leader'), team.agentId('ann'), 'leader');
    await join(team.principal('root', 'admin'), team.agentId('root'), 'leader');
  });

  it('refuses another’s agent, known or not, in the same words', async () => {
    const bob = await team.join('bob');
    const nobody = team.agentId('nobody');
    const errors = await Promise.all(
      [bob, nobody].map((id) => refusal(() => join(team.principal('ann'), id))),
    );
    const [known, unknown] = errors.map(({ code, message }) => [
      code,
      message.replace(/"(bob|nobody)-/, '"x-'),
    ]);
    assert.deepEqual(known, unknown);
    assert.equal(known?.[0], 'FORBIDDEN');
    assert.equal(await team.app.ports.agents.find(nobody), undefined);
  });

  it('lets a leader register any agent, and act for it', async () => {
    const bob = team.agentId('bob');
    await join(team.leader, bob);
    await team.app.services.liveness.actAs(team.leader, bob);
    await team.app.services.membership.heartbeat(team.leader, bob, unkeyed);
    assert.equal((await join(team.leader, bob)).agent.ownerUid, team.leader.ownerUid);
  });

  it('lets a person register agents of their own, and not another’s', async () => {
    const [ada, ben] = [person(`ada-${team.workspace}`), person(`ben-${team.workspace}`)];
    const id = team.agentId('helper');
    assert.equal((await join(ada, id)).agent.ownerUid, ada.uid);
    await join(ada, id);
    await team.app.services.liveness.actAs(ada, id);
    for (const act of [
      () => join(ben, id),
      () => team.app.services.liveness.actAs(ben, id),
      () => team.app.services.membership.heartbeat(ben, id, unkeyed),
      () => team.app.services.liveness.actAs(ada, team.agentId('nobody')),
    ]) {
      assert.equal((await refusal(act)).code, 'FORBIDDEN');
    }
  });

  it('lets a worker act only as itself', async () => {
    const bob = await team.join('bob');
    const { liveness } = team.app.services;
    await liveness.actAs(team.principal('bob'), bob);
    const error = await refusal(() => liveness.actAs(team.principal('ann'), bob));
    assert.equal(error.code, 'FORBIDDEN');
    assert.match(error.message, /You are "ann-/);
    const sibling: Principal = { ...team.principal('ann'), ownerUid: 'same-owner' };
    await refusal(() => liveness.actAs(sibling, bob));
  });

  it('has no heartbeat of an agent that is not registered', async () => {
    const { membership } = team.app.services;
    const error = await refusal(() => membership.heartbeat(team.leader, team.agentId('ann'), unkeyed));
    assert.equal(error.code, 'NOT_FOUND');
  });

  it('registers an agent once when it registers many times at once', async () => {
    await Promise.all(Array.from({ length: 6 }, () => team.join('ann')));
    assert.deepEqual(await counted(), { total: 1, leaders: 0, active: 1 });
  });
});
