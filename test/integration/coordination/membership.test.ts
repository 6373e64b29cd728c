import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { personOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';
import { Team, unkeyed } from './team.ts';

describe('the membership service', () => {
  let team: Team;

  const join = (as: Principal, agentId: string, role: 'leader' | 'worker' = 'worker', capabilities?: string[]) =>
    team.app.services.membership.join(as, { agentId, role, workspace: team.workspace, capabilities }, unkeyed);
  const person = (uid: string) => personOf(uid, 'worker', team.workspace);
  const actAs = (as: Principal, agentId: string) => team.app.services.liveness.actAs(as, team.workspace, agentId);
  const heartbeat = (as: Principal, agentId: string) =>
    team.app.services.membership.heartbeat(as, { workspace: team.workspace, name: agentId }, unkeyed);
  const counted = async () => (await team.app.services.coordination.status(team.workspace)).agents;

  beforeEach(() => {
    team = new Team();
  });

  it('registers an agent that calls register_agent for itself', async () => {
    const ann = team.principal('ann');
    const { agent, currentTask } = await join(ann, team.agentId('ann'), 'worker', ['coding']);
    assert.deepEqual([agent.role, agent.parts[team.workspace], agent.owner_uid], ['worker', 'worker', ann.owner_uid]);
    assert.deepEqual([agent.last_seen, agent.tasks_completed, currentTask], [team.now, 0, null]);
    assert.deepEqual(agent.capability_details, [{ name: 'coding', category: 'declared' }]);
    assert.deepEqual((await team.app.access.ports.agents.find(agent.id))?.value, agent);
    assert.deepEqual((await team.app.access.ports.presence.lastSeen([agent.id])).get(agent.id), team.now);
  });

  it("keeps an agent's capabilities if the call contains none, and replaces them otherwise", async () => {
    const [as, id] = [team.principal('ann'), team.agentId('ann')];
    const named = async (capabilities?: string[]) =>
      (await join(as, id, 'worker', capabilities)).agent.capability_details.map(({ name }) => name);
    assert.deepEqual(await named(['a', 'b']), ['a', 'b']);
    assert.deepEqual(await named(), ['a', 'b']);
    assert.deepEqual(await named(['c']), ['c']);
    assert.deepEqual(await named([]), []);
  });

  it('returns the task that a registering agent holds, unless its session is archived', async () => {
    const ann = await team.join('ann');
    const { id } = await team.createOne();
    await team.claim(ann);
    assert.equal((await join(team.principal('ann'), ann)).currentTask, id);
    await team.app.services.coordination.initialize(team.workspace, { goal: 'One' }, unkeyed);
    await team.app.services.coordination.initialize(team.workspace, { goal: 'Two' }, unkeyed);
    assert.equal((await join(team.principal('ann'), ann)).currentTask, null, 'the session was archived');
  });

  it('counts each leader agent and each worker agent of a workspace once', async () => {
    await join(team.leader, team.agentId('lead'), 'leader');
    await team.join('ann');
    await team.join('ann');
    await team.join('bob');
    assert.deepEqual(await counted(), { total: 3, leaders: 1, active: 3, registered: 3, online: 3 });
    const elsewhere = { agentId: team.agentId('bob'), role: 'worker' as const, workspace: `${team.workspace}-2` };
    await team.app.services.membership.join(team.principal('bob'), elsewhere, unkeyed);
    assert.deepEqual(
      await counted(),
      { total: 3, leaders: 1, active: 3, registered: 3, online: 3 },
      'an agent in another workspace stays counted',
    );
  });

  it('refuses the role leader to callers that are not leaders', async () => {
    const error = await refusal(() => join(team.principal('ann'), team.agentId('ann'), 'leader'));
    assert.deepEqual([error.code, error.details.field], ['FORBIDDEN', 'role']);
    await join(team.principal('ann', 'leader'), team.agentId('ann'), 'leader');
    await join(team.principal('root', 'admin'), team.agentId('root'), 'leader');
  });

  it('registers a terminal with a new id if the given id belongs to another agent', async () => {
    const bob = await team.join('bob');
    const ann = team.principal('ann');
    const { agent } = await join(ann, bob);
    assert.notEqual(agent.id, bob);
    assert.deepEqual([agent.name, agent.registered_by], [bob, ann.uid]);
    assert.equal(await actAs(ann, bob), agent.id, "the caller's name refers to its terminal");
    assert.equal(await actAs(team.principal('bob'), bob), bob);
    assert.equal((await join(ann, bob)).agent.id, agent.id);
  });

  it("registers a terminal that only the registering agent and that agent's owner can act for", async () => {
    const id = team.agentId('terminal-2');
    const ann = { ...team.principal('ann'), owner_uid: 'ada' };
    const { agent } = await join(ann, id);
    assert.deepEqual([agent.id, agent.owner_uid, agent.registered_by], [id, 'ada', ann.uid]);
    assert.equal(await actAs(ann, id), id);
    await heartbeat(ann, id);
    const ada = person('ada');
    assert.equal(await actAs(ada, id), id);
    const others = [team.principal('bob'), { ...team.principal('bob'), owner_uid: 'ada' }, person('ben')];
    for (const other of others) {
      const errors = [];
      for (const name of [id, team.agentId('nobody')])
        errors.push(
          (await refusal(() => actAs(other, name))).message.replace(name, 'x'),
          (await refusal(() => heartbeat(other, name))).message.replace(name, 'x'),
        );
      assert.equal(new Set(errors).size, 1, 'errors for known and unknown ids are equal');
    }
  });

  it('does not assign an id that registerAgent would assign to another caller', async () => {
    const { registration } = team.app.services;
    const theirs = registration.agentId('ben', 'research-agent');
    for (const as of [team.principal('ann'), team.leader, person('ada')]) {
      const { agent } = await join(as, theirs);
      assert.notEqual(agent.id, theirs);
      assert.equal(await actAs(as, theirs), agent.id, "the caller's name refers to its terminal");
    }
    assert.equal(await team.app.access.ports.agents.find(theirs), undefined);
  });

  it('allows a leader to act only for agents whose owner is in the workspace', async () => {
    const bob = team.agentId('bob');
    await join(team.principal('bob'), bob);
    assert.equal(await actAs(team.leader, bob), bob);
    await heartbeat(team.leader, bob);
    const stranger = { ...team.principal('eve'), owner_uid: `nobody-${team.workspace}` };
    const eve = team.agentId('eve');
    await join(stranger, eve);
    const unknown = team.agentId('nobody');
    const messages = await Promise.all(
      [eve, unknown].map(async (id) => (await refusal(() => actAs(team.leader, id))).message.replace(id, 'x')),
    );
    assert.equal(messages[0], messages[1], 'an agent whose owner is not in the workspace looks unknown');
    const { store } = team.app.kernel;
    const member = { uid: stranger.owner_uid, workspace: team.workspace, added_by: 'ada', added_at: team.now };
    await store.commit([{ kind: 'nameWorkspace', workspace: team.workspace, access: 'private' }]);
    await store.commit([{ kind: 'setMember', member: { ...member, role: 'worker' } }]);
    assert.equal(await actAs(team.leader, eve), eve, 'the owner of the agent is now a member');
    const far = team.agentId('far');
    const joining = { agentId: far, role: 'worker' as const, workspace: `${team.workspace}-2` };
    const itself = { ...stranger, uid: `agent:${far}`, agent_id: far };
    await team.app.services.membership.join(itself, joining, unkeyed);
    const error = await refusal(() => actAs(team.leader, far));
    assert.equal(error.code, 'NOT_FOUND', 'an agent of another workspace is not found');
  });

  it('allows a person to register and act for their own agents only', async () => {
    const [ada, ben] = [person(`ada-${team.workspace}`), person(`ben-${team.workspace}`)];
    const name = team.agentId('helper');
    const { agent } = await join(ada, name);
    assert.deepEqual([agent.owner_uid, agent.name], [ada.uid, name]);
    assert.equal((await join(ada, name)).agent.id, agent.id);
    assert.equal(await actAs(ada, name), agent.id);
    for (const act of [
      () => actAs(ben, name),
      () => actAs(ben, agent.id),
      () => heartbeat(ben, name),
      () => actAs(ada, team.agentId('nobody')),
    ])
      assert.equal((await refusal(act)).code, 'FORBIDDEN');
    assert.notEqual((await join(ben, name)).agent.id, agent.id);
  });

  it('adds a suffix to terminal ids in private workspaces, so that they never reveal taken ids', async () => {
    const worker = person(`ada-${team.workspace}`);
    const name = team.agentId('terminal');
    const before = (await join(worker, name)).agent.id;
    assert.notEqual(before, name);
    await join(team.leader, name);
    assert.equal((await team.app.access.ports.agents.find(name))?.value.registered_by, team.leader.uid);
    const other = { ...worker, uid: `eve-${team.workspace}`, owner_uid: `eve-${team.workspace}` };
    assert.match((await join(other, name)).agent.id, /-[0-9a-f]{8}$/);
  });

  it('allows a worker agent to act only for itself', async () => {
    const bob = await team.join('bob');
    await actAs(team.principal('bob'), bob);
    const error = await refusal(() => actAs(team.principal('ann'), bob));
    assert.equal(error.code, 'FORBIDDEN');
    assert.match(error.message, /You are "ann-/);
    const sibling: Principal = { ...team.principal('ann'), owner_uid: 'same-owner' };
    await refusal(() => actAs(sibling, bob));
  });

  it('refuses a heartbeat for an agent that is not registered', async () => {
    const error = await refusal(() => heartbeat(team.leader, team.agentId('ann')));
    assert.equal(error.code, 'NOT_FOUND');
  });

  it('registers an agent once if it registers several times concurrently', async () => {
    await Promise.all(Array.from({ length: 6 }, () => team.join('ann')));
    assert.deepEqual(await counted(), { total: 1, leaders: 0, active: 1, registered: 1, online: 1 });
  });
});
