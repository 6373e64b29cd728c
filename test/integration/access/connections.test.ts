import assert from 'node:assert/strict';
import type { WantedLimits } from '../../../functions/src/identity/rules/lineage.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import type { Decision } from '../../../functions/src/signin/rules/choices.ts';
import { refusal } from '../../support/refusal.ts';
import { ConnectionsFixture } from './connectionsFixture.ts';
import { withName } from './fixture.ts';

const NOTHING = { agents: [], invitations: [], requests: [] };

const namesIn = ({ connections }: JsonObject) =>
  Array.isArray(connections) ? connections.map((one) => String(Object(one).name)).sort() : [];

describe('connections of agents and apps', () => {
  let fixture: ConnectionsFixture;

  const register = (as: Principal, name: string, role: Role, limits: WantedLimits = {}) =>
    fixture.register(as, name, role, limits);
  const connect = (name: string, agentName: string, chosen: Partial<Decision> = {}) =>
    fixture.connect(name, agentName, chosen);
  const signIn = (credential: string) => fixture.signIn(credential);

  beforeEach(async () => {
    fixture = new ConnectionsFixture();
    await fixture.arrive('ada', 'leader');
    await fixture.arrive('eve', 'leader');
    await fixture.arrive('root', 'admin');
  });

  it('are listed to their owner in pages, with their restrictions, and on request to admins', async () => {
    const ada = await fixture.person('ada');
    const limits = { toolsets: ['todo'], readonly: true };
    const { agent } = await register(ada, 'narrow', 'worker', limits);
    await register(ada, 'wide', 'leader');
    await register(await fixture.person('eve'), 'hers', 'worker');
    const all = await fixture.ask(ada, 'list_connections');
    assert.deepEqual(namesIn(all), ['narrow', 'wide']);
    const narrow = Object(all['connections']).find((one: unknown) => Object(one).name === 'narrow');
    assert.deepEqual(narrow, {
      agent_id: agent.id,
      name: 'narrow',
      role: 'worker',
      home: 'default',
      ...limits,
      created_at: fixture.now.toISOString(),
      expires_at: new Date(fixture.now.getTime() + 90 * 86_400_000).toISOString(),
      last_seen: fixture.now.toISOString(),
    });
    const first = await fixture.ask(ada, 'list_connections', { limit: 1 });
    const rest = await fixture.ask(ada, 'list_connections', { limit: 1, cursor: String(first['next_cursor']) });
    assert.deepEqual([...namesIn(first), ...namesIn(rest)].sort(), ['narrow', 'wide']);
    assert.deepEqual([first['truncated'], rest['truncated']], [true, false]);
    const owner = fixture.id('ada');
    assert.deepEqual(await fixture.ask(await fixture.person('root'), 'list_connections', { owner }), all);
    const eve = await fixture.person('eve');
    const hidden = await fixture.refused(eve, 'list_connections', { owner });
    const missing = await fixture.refused(eve, 'list_connections', { owner: 'nobody' });
    assert.deepEqual(withName(hidden, owner, 'nobody'), missing);
  });

  it('are all listed to a leader agent of their owner; any other agent sees only itself', async () => {
    const ada = await fixture.person('ada');
    const { agent } = await register(ada, 'wide', 'leader');
    await register(ada, 'other', 'worker');
    const as = async (role: Role): Promise<Principal> => ({
      ...(await fixture.agentOf('ada', role)),
      agent_id: agent.id,
      uid: `agent:${agent.id}`,
    });
    assert.deepEqual(namesIn(await fixture.ask(await as('leader'), 'list_connections')), ['other', 'wide']);
    assert.deepEqual(namesIn(await fixture.ask(await as('worker'), 'list_connections')), ['wide']);
  });

  it('can be revoked by their owner, by a leader agent of the owner and by an admin', async () => {
    const ada = await fixture.person('ada');
    for (const revoker of [ada, await fixture.agentOf('ada', 'leader'), await fixture.person('root')]) {
      const { agent, credential, secret } = await register(ada, 'coder', 'worker');
      const bearer = `${credential.api_key}.${secret}`;
      assert.equal((await signIn(bearer)).agent_id, agent.id);
      const revoked = await fixture.ask(revoker, 'revoke_connection', { agent_id: agent.id });
      assert.deepEqual(revoked, { agent_id: agent.id, name: 'coder', revoked: 1, ended: NOTHING });
      assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
      const again = await fixture.refused(revoker, 'revoke_connection', { agent_id: agent.id });
      assert.equal(again.reason, 'NOTHING_TO_REVOKE');
    }
  });

  it('of an app are listed with name and rights once the app has its first token', async () => {
    await register(await fixture.person('ada'), 'with a key', 'worker');
    const chosen = { toolsets: ['todo'], readonly: true, workspace: 'default' };
    await connect('ada', 'Claude Code (Ada)', chosen);
    const all = await fixture.ask(await fixture.person('ada'), 'list_connections');
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
      created_at: fixture.now.toISOString(),
      expires_at: new Date(fixture.now.getTime() + 90 * 86_400_000).toISOString(),
      last_seen: fixture.now.toISOString(),
    });
  });

  it('belong to one agent and are revoked together if they are two sign-ins from one app', async () => {
    const [laptop, desktop] = [await connect('ada', 'Claude Code (Ada)'), await connect('ada', 'Claude Code (Ada)')];
    const ada = await fixture.person('ada');
    const all = await fixture.ask(ada, 'list_connections');
    assert.deepEqual(namesIn(all), ['Claude Code (Ada)', 'Claude Code (Ada)']);
    const app = await signIn(laptop.accessToken);
    const agent_id = app.agent_id ?? assert.fail('the principal is not an agent');
    assert.equal((await signIn(desktop.accessToken)).agent_id, agent_id);
    // Revoking an app also revokes the agents that the app has registered.
    const { credential, secret } = await register(app, 'helper', 'worker');
    const helper = `${credential.api_key}.${secret}`;
    assert.equal((await signIn(helper)).grant?.resource, undefined);
    const hidden = await fixture.refused(await fixture.person('eve'), 'revoke_connection', { agent_id });
    const missing = await fixture.refused(await fixture.person('eve'), 'revoke_connection', { agent_id: 'nothing' });
    assert.deepEqual(withName(hidden, agent_id, 'nothing'), missing);
    const revoked = await fixture.ask(ada, 'revoke_connection', { agent_id });
    assert.deepEqual(revoked, {
      agent_id,
      name: 'Claude Code (Ada)',
      revoked: 2,
      ended: { ...NOTHING, agents: [{ agent_id: credential.agent_id, name: 'helper' }] },
    });
    for (const bearer of [laptop.accessToken, desktop.accessToken, helper])
      assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
    assert.equal((await fixture.refused(ada, 'revoke_connection', { agent_id })).reason, 'NOTHING_TO_REVOKE');
  });

  it('are listed after their end with time and reason, such as a reused refresh token', async () => {
    const { services, access } = fixture.app;
    const before = await connect('ada', 'Claude Code (Ada)');
    const asked = { clientId: 'https://client.example/client.json', resource: undefined };
    await services.signIn.tokens.refresh(before.refreshToken, asked);
    const ada = await fixture.person('ada');
    assert.deepEqual((await fixture.ask(ada, 'list_connections'))['ended'], []);
    const agent_id = (await signIn(before.accessToken)).agent_id ?? assert.fail('the principal is not an agent');
    fixture.pass(61);
    await assert.rejects(services.signIn.tokens.refresh(before.refreshToken, asked));
    const listed = await fixture.ask(ada, 'list_connections');
    assert.deepEqual(listed['connections'], []);
    const ended = {
      agent_id,
      name: 'Claude Code (Ada)',
      app: { name: 'Claude Code', host: 'client.example' },
      reason: 'refresh_token_reused',
      ended_at: fixture.now.toISOString(),
    };
    assert.deepEqual(listed['ended'], [ended]);
    assert.deepEqual((await fixture.ask(await fixture.person('eve'), 'list_connections'))['ended'], []);
    // The record of the ended sign-in remains. It gives no access, and does not prevent another sign-in.
    assert.equal((await fixture.refused(ada, 'revoke_connection', { agent_id })).reason, 'NOTHING_TO_REVOKE');
    assert.deepEqual(await access.ports.grants.ofAgents([agent_id]), []);
    const again = await connect('ada', 'Claude Code (Ada)');
    assert.equal((await signIn(again.accessToken)).agent_id, agent_id);
    const both = await fixture.ask(ada, 'list_connections');
    assert.deepEqual([namesIn(both), both['ended']], [['Claude Code (Ada)'], [ended]]);
    fixture.pass(31 * 86_400);
    assert.deepEqual((await fixture.ask(ada, 'list_connections'))['ended'], []);
  });

  it('are listed after their end as disconnected, revoked, owner_lost_role, expired or replaced', async () => {
    const { services } = fixture.app;
    const reasons = async (name: string) => {
      const { ended } = await fixture.ask(await fixture.person(name), 'list_connections');
      return Array.isArray(ended) ? ended.map((one) => `${Object(one).name}: ${Object(one).reason}`) : [];
    };
    const clientId = 'https://client.example/client.json';
    const given = await connect('ada', 'Disconnected');
    assert.ok(await services.signIn.tokens.revoke(given.refreshToken, clientId));
    assert.deepEqual(await reasons('ada'), ['Disconnected: disconnected']);
    const agent_id = (await signIn((await connect('ada', 'Revoked')).accessToken)).agent_id ?? '';
    fixture.pass(1);
    await fixture.ask(await fixture.person('ada'), 'revoke_connection', { agent_id });
    assert.deepEqual(await reasons('ada'), ['Revoked: revoked', 'Disconnected: disconnected']);
    const lost = await connect('eve', 'Without a role');
    await fixture.app.kernel.store.commit([{ kind: 'setPerson', uid: fixture.id('eve'), role: 'none' }]);
    await assert.rejects(services.signIn.tokens.refresh(lost.refreshToken, { clientId, resource: undefined }));
    assert.deepEqual(await reasons('eve'), ['Without a role: owner_lost_role']);
    await connect('root', 'Unused');
    fixture.pass(91 * 86_400);
    assert.deepEqual(await reasons('root'), ['Unused: expired']);
    // A later sign-in deletes the expired sign-in, but the list still has the reason why the expired one ended.
    await connect('root', 'Unused');
    assert.deepEqual(await reasons('root'), ['Unused: expired']);
    for (let place = 2; place <= 11; place++) {
      fixture.pass(1);
      await connect('root', 'Unused');
    }
    assert.deepEqual(await reasons('root'), ['Unused: replaced']);
  });

  it('that another owner tries to revoke cause the same error as unknown connections', async () => {
    const { agent } = await register(await fixture.person('ada'), 'coder', 'leader');
    const others = [
      await fixture.person('eve'),
      await fixture.agentOf('eve', 'leader'),
      await fixture.agentOf('ada', 'worker'),
      // An agent of an admin, restricted to one workspace.
      await fixture.agentOf('root', 'admin', { held_to: 'default' }),
    ];
    for (const other of others) {
      const hidden = await fixture.refused(other, 'revoke_connection', { agent_id: agent.id });
      const missing = await fixture.refused(other, 'revoke_connection', { agent_id: 'nothing' });
      assert.deepEqual(withName(hidden, agent.id, 'nothing'), missing);
    }
    assert.equal((await fixture.app.access.ports.agents.credentials(agent.id)).length, 1);
    const itself = { ...(await fixture.agentOf('ada', 'leader')), agent_id: agent.id };
    await fixture.ask(itself, 'revoke_connection', { agent_id: agent.id });
  });
});
