import assert from 'node:assert/strict';
import type { WantedLimits } from '../../../functions/src/identity/rules/lineage.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import type { Decision } from '../../../functions/src/signin/rules/choices.ts';
import { refusal } from '../../support/refusal.ts';
import { ConnectedTown } from './connectedTown.ts';
import { withName } from './town.ts';

const NOTHING = { agents: [], invitations: [], requests: [] };

const namesIn = ({ connections }: JsonObject) =>
  Array.isArray(connections) ? connections.map((one) => String(Object(one).name)).sort() : [];

describe('connections', () => {
  let town: ConnectedTown;

  const register = (as: Principal, name: string, role: Role, limits: WantedLimits = {}) =>
    town.register(as, name, role, limits);
  const connect = (name: string, agentName: string, chosen: Partial<Decision> = {}) =>
    town.connect(name, agentName, chosen);
  const signIn = (credential: string) => town.signIn(credential);

  beforeEach(async () => {
    town = new ConnectedTown();
    await town.arrive('ada', 'leader');
    await town.arrive('eve', 'leader');
    await town.arrive('root', 'admin');
  });

  it("list a person's own agents with their restrictions in pages, and an admin may list others'", async () => {
    const ada = await town.person('ada');
    const limits = { toolsets: ['todo'], readonly: true };
    const { agent } = await register(ada, 'narrow', 'worker', limits);
    await register(ada, 'wide', 'leader');
    await register(await town.person('eve'), 'hers', 'worker');
    const all = await town.ask(ada, 'list_connections');
    assert.deepEqual(namesIn(all), ['narrow', 'wide']);
    const narrow = Object(all['connections']).find((one: unknown) => Object(one).name === 'narrow');
    assert.deepEqual(narrow, {
      agent_id: agent.id,
      name: 'narrow',
      role: 'worker',
      home: 'default',
      ...limits,
      created_at: town.now.toISOString(),
      expires_at: new Date(town.now.getTime() + 90 * 86_400_000).toISOString(),
      last_seen: town.now.toISOString(),
    });
    const first = await town.ask(ada, 'list_connections', { limit: 1 });
    const rest = await town.ask(ada, 'list_connections', { limit: 1, cursor: String(first['next_cursor']) });
    assert.deepEqual([...namesIn(first), ...namesIn(rest)].sort(), ['narrow', 'wide']);
    assert.deepEqual([first['truncated'], rest['truncated']], [true, false]);
    const owner = town.id('ada');
    assert.deepEqual(await town.ask(await town.person('root'), 'list_connections', { owner }), all);
    const eve = await town.person('eve');
    const hidden = await town.refused(eve, 'list_connections', { owner });
    const missing = await town.refused(eve, 'list_connections', { owner: 'nobody' });
    assert.deepEqual(withName(hidden, owner, 'nobody'), missing);
  });

  it('list all agents of the owner to a leader agent, and only itself to other agents', async () => {
    const ada = await town.person('ada');
    const { agent } = await register(ada, 'wide', 'leader');
    await register(ada, 'other', 'worker');
    const as = async (role: Role): Promise<Principal> => ({
      ...(await town.agentOf('ada', role)),
      agent_id: agent.id,
      uid: `agent:${agent.id}`,
    });
    assert.deepEqual(namesIn(await town.ask(await as('leader'), 'list_connections')), ['other', 'wide']);
    assert.deepEqual(namesIn(await town.ask(await as('worker'), 'list_connections')), ['wide']);
  });

  it('are revoked by their owner, by a leader agent of the owner or by an admin', async () => {
    const ada = await town.person('ada');
    for (const revoker of [ada, await town.agentOf('ada', 'leader'), await town.person('root')]) {
      const { agent, credential, secret } = await register(ada, 'coder', 'worker');
      const bearer = `${credential.api_key}.${secret}`;
      assert.equal((await signIn(bearer)).agent_id, agent.id);
      const revoked = await town.ask(revoker, 'revoke_connection', { agent_id: agent.id });
      assert.deepEqual(revoked, { agent_id: agent.id, name: 'coder', revoked: 1, ended: NOTHING });
      assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
      const again = await town.refused(revoker, 'revoke_connection', { agent_id: agent.id });
      assert.equal(again.reason, 'NOTHING_TO_REVOKE');
    }
  });

  it('list apps with their name and rights from the first token on', async () => {
    await register(await town.person('ada'), 'with a key', 'worker');
    const chosen = { toolsets: ['todo'], readonly: true, workspace: 'default' };
    await connect('ada', 'Claude Code (Ada)', chosen);
    const all = await town.ask(await town.person('ada'), 'list_connections');
    assert.deepEqual(namesIn(all), ['Claude Code (Ada)', 'with a key']);
    const listed: unknown = Object(all['connections']).find((one: unknown) => Object(one).app);
    const agentId = String(Object(listed).agent_id);
    assert.match(agentId, /^Claude-Code-Ada-/);
    assert.deepEqual(listed, {
      agent_id: agentId,
      name: 'Claude Code (Ada)',
      role: 'worker',
      home: 'default',
      toolsets: ['todo'],
      held_to: 'default',
      readonly: true,
      app: { name: 'Claude Code', host: 'client.example' },
      created_at: town.now.toISOString(),
      expires_at: new Date(town.now.getTime() + 90 * 86_400_000).toISOString(),
      last_seen: town.now.toISOString(),
    });
  });

  it('combine all sign-ins from one app under one name, and are revoked together', async () => {
    const [laptop, desktop] = [
      await connect('ada', 'Claude Code (Ada)'),
      await connect('ada', 'Claude Code (Ada)'),
    ];
    const ada = await town.person('ada');
    const all = await town.ask(ada, 'list_connections');
    assert.deepEqual(namesIn(all), ['Claude Code (Ada)', 'Claude Code (Ada)']);
    const app = await signIn(laptop.accessToken);
    const agent_id = app.agent_id ?? assert.fail('the principal is not an agent');
    assert.equal((await signIn(desktop.accessToken)).agent_id, agent_id);
    // Revoking an app also revokes the agents that it registered.
    const { credential, secret } = await register(app, 'helper', 'worker');
    const helper = `${credential.api_key}.${secret}`;
    assert.equal((await signIn(helper)).grant?.resource, undefined);
    const hidden = await town.refused(await town.person('eve'), 'revoke_connection', { agent_id });
    const missing = await town.refused(await town.person('eve'), 'revoke_connection', {
      agent_id: 'nothing',
    });
    assert.deepEqual(withName(hidden, agent_id, 'nothing'), missing);
    const revoked = await town.ask(ada, 'revoke_connection', { agent_id });
    assert.deepEqual(revoked, {
      agent_id,
      name: 'Claude Code (Ada)',
      revoked: 2,
      ended: { ...NOTHING, agents: [{ agent_id: credential.agent_id, name: 'helper' }] },
    });
    for (const bearer of [laptop.accessToken, desktop.accessToken, helper])
      assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
    assert.equal((await town.refused(ada, 'revoke_connection', { agent_id })).reason, 'NOTHING_TO_REVOKE');
  });

  it('report when and why a sign-in ended, such as the reuse of a refresh token', async () => {
    const { services, access } = town.app;
    const before = await connect('ada', 'Claude Code (Ada)');
    const asked = { clientId: 'https://client.example/client.json', resource: undefined };
    await services.signIn.tokens.refresh(before.refreshToken, asked);
    const ada = await town.person('ada');
    assert.deepEqual((await town.ask(ada, 'list_connections'))['ended'], []);
    const agent_id =
      (await signIn(before.accessToken)).agent_id ?? assert.fail('the principal is not an agent');
    town.pass(61);
    await assert.rejects(services.signIn.tokens.refresh(before.refreshToken, asked));
    const listed = await town.ask(ada, 'list_connections');
    assert.deepEqual(listed['connections'], []);
    const ended = {
      agent_id,
      name: 'Claude Code (Ada)',
      app: { name: 'Claude Code', host: 'client.example' },
      reason: 'refresh_token_reused',
      ended_at: town.now.toISOString(),
    };
    assert.deepEqual(listed['ended'], [ended]);
    assert.deepEqual((await town.ask(await town.person('eve'), 'list_connections'))['ended'], []);
    // The record gives no access and does not prevent another sign-in.
    assert.equal((await town.refused(ada, 'revoke_connection', { agent_id })).reason, 'NOTHING_TO_REVOKE');
    assert.deepEqual(await access.ports.grants.ofAgents([agent_id]), []);
    const again = await connect('ada', 'Claude Code (Ada)');
    assert.equal((await signIn(again.accessToken)).agent_id, agent_id);
    const both = await town.ask(ada, 'list_connections');
    assert.deepEqual([namesIn(both), both['ended']], [['Claude Code (Ada)'], [ended]]);
    town.pass(31 * 86_400);
    assert.deepEqual((await town.ask(ada, 'list_connections'))['ended'], []);
  });

  it('report the other reasons for the end of sign-ins', async () => {
    const { services } = town.app;
    const reasons = async (name: string) => {
      const { ended } = await town.ask(await town.person(name), 'list_connections');
      return Array.isArray(ended) ? ended.map((one) => `${Object(one).name}: ${Object(one).reason}`) : [];
    };
    const clientId = 'https://client.example/client.json';
    const given = await connect('ada', 'Disconnected');
    assert.ok(await services.signIn.tokens.revoke(given.refreshToken, clientId));
    assert.deepEqual(await reasons('ada'), ['Disconnected: disconnected']);
    const agent_id = (await signIn((await connect('ada', 'Revoked')).accessToken)).agent_id ?? '';
    town.pass(1);
    await town.ask(await town.person('ada'), 'revoke_connection', { agent_id });
    assert.deepEqual(await reasons('ada'), ['Revoked: revoked', 'Disconnected: disconnected']);
    const lost = await connect('eve', 'Without a role');
    await town.app.kernel.store.commit([{ kind: 'setPerson', uid: town.id('eve'), role: 'none' }]);
    await assert.rejects(
      services.signIn.tokens.refresh(lost.refreshToken, { clientId, resource: undefined }),
    );
    assert.deepEqual(await reasons('eve'), ['Without a role: owner_lost_role']);
    await connect('root', 'Unused');
    town.pass(91 * 86_400);
    assert.deepEqual(await reasons('root'), ['Unused: expired']);
    // Another sign-in deletes the expired one and keeps the reason of its end.
    await connect('root', 'Unused');
    assert.deepEqual(await reasons('root'), ['Unused: expired']);
    for (let place = 2; place <= 11; place++) {
      town.pass(1);
      await connect('root', 'Unused');
    }
    assert.deepEqual(await reasons('root'), ['Unused: replaced']);
  });

  it('of other owners look like unknown ones', async () => {
    const { agent } = await register(await town.person('ada'), 'coder', 'leader');
    const others = [
      await town.person('eve'),
      await town.agentOf('eve', 'leader'),
      await town.agentOf('ada', 'worker'),
      // An admin's agent that is restricted to one workspace.
      await town.agentOf('root', 'admin', { held_to: 'default' }),
    ];
    for (const other of others) {
      const hidden = await town.refused(other, 'revoke_connection', { agent_id: agent.id });
      const missing = await town.refused(other, 'revoke_connection', { agent_id: 'nothing' });
      assert.deepEqual(withName(hidden, agent.id, 'nothing'), missing);
    }
    assert.equal((await town.app.access.ports.agents.credentials(agent.id)).length, 1);
    const itself = { ...(await town.agentOf('ada', 'leader')), agent_id: agent.id };
    await town.ask(itself, 'revoke_connection', { agent_id: agent.id });
  });
});
