/** People sign in from apps, and each app becomes an agent of the person. */
import assert from 'node:assert/strict';
import { getAuth } from 'firebase-admin/auth';
import { z } from 'zod';
import { compose } from '../../functions/src/composition/compose.ts';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';
import { externalServicesOf } from '../support/externalServices.ts';
import { App, call, REDIRECT } from './support/app.ts';
import { Deployment, type Someone } from './support/deployment.ts';
import { EVERYTHING, idTokenOf, Visitor } from './support/visitor.ts';

const DAY = 86_400_000;

describe('sign-in from an app', () => {
  let deployment: Deployment;
  let ada: Someone;
  let app: App;

  before(async () => {
    deployment = await Deployment.start();
    ada = await deployment.person('Ada', 'leader');
    app = await App.registered(deployment, 'Pencil');
  });
  after(() => deployment?.stop());

  const resultOf = async (token: string, method: string, params: object = {}) => {
    const { status, result, error } = await call(deployment, token, method, params);
    assert.equal(status, 200, JSON.stringify(error));
    assert.ok(result, JSON.stringify(error));
    return result;
  };

  const connectionsOf = async (token: string) => {
    const { connections } = await resultOf(token, 'access.list_connections');
    assert.ok(Array.isArray(connections));
    return connections;
  };

  it('makes an app an agent of the person, with the granted permissions', async () => {
    const { access_token, scope, expires_in } = await app.signIn(ada, EVERYTHING);
    assert.deepEqual([scope, expires_in], ['muster:read muster:write', 3600]);
    const { agent, owner, deployment_role, limits } = await resultOf(access_token, 'access.whoami');
    assert.ok(agent instanceof Object && 'name' in agent && 'id' in agent);
    assert.equal(agent.name, 'Pencil (Ada)');
    assert.match(String(agent.id), /^Pencil-Ada-[0-9a-f]{8}$/);
    assert.deepEqual(owner, { uid: ada.uid, name: 'Ada' });
    assert.equal(deployment_role, 'leader');
    assert.ok(limits instanceof Object && 'role' in limits);
    assert.equal(limits.role, 'leader');
    const { agents } = await resultOf(access_token, 'system.getAgents');
    assert.ok(JSON.stringify(agents).includes(`"${agent.id}"`));
  });

  it('creates a connection; 5 seconds after its revocation, every instance rejects its tokens', async () => {
    const eve = await deployment.person('Eve', 'leader');
    const [one, other] = [await app.signIn(eve, EVERYTHING), await app.signIn(eve, { agentName: 'Second' })];
    const listed = await connectionsOf(one.access_token);
    assert.deepEqual(listed.map(({ name, app: { name: called } }) => [name, called]).sort(), [
      ['Pencil (Eve)', 'Pencil'],
      ['Second', 'Pencil'],
    ]);
    const second = listed.find(({ name }) => name === 'Second');
    assert.equal(Math.round((Date.parse(second.expires_at) - Date.parse(second.created_at)) / DAY), 90);
    const elsewhere = compose(externalServicesOf({ clock: { now: () => deployment.now() } })).services.authenticator;
    await elsewhere.authenticate(other.access_token);
    assert.equal((await call(deployment, other.access_token, 'access.whoami')).status, 200);
    const revoked = await resultOf(one.access_token, 'access.revoke_connection', { agent_id: second.agent_id });
    assert.equal(revoked['revoked'], 1);
    deployment.move(5000);
    assert.equal((await call(deployment, other.access_token, 'access.whoami')).status, 401);
    await assert.rejects(elsewhere.authenticate(other.access_token), { code: 'UNAUTHORIZED' });
    await assert.rejects(app.refresh(other.refresh_token), { error: 'invalid_grant' });
    assert.equal((await call(deployment, one.access_token, 'access.whoami')).status, 200);
  });

  it('grants only the toolsets and the workspace that the person selected, or read-only access', async () => {
    const { access_token, scope } = await app.signIn(ada, {
      agentName: 'Narrow',
      role: 'worker',
      toolsets: ['access', 'todo'],
      workspace: 'default',
      readonly: true,
    });
    assert.equal(scope, 'muster:read');
    const { limits } = await resultOf(access_token, 'access.whoami');
    assert.ok(limits instanceof Object && 'toolsets' in limits && 'held_to' in limits && 'readonly' in limits);
    assert.deepEqual(limits.toolsets, ['access', 'todo']);
    assert.deepEqual([limits.held_to, limits.readonly], ['default', true]);
    const adding = await call(deployment, access_token, 'todo.add_task', { title: 'Buy milk' });
    assert.equal(adding.error?.['code'], -32101);
    await resultOf(access_token, 'todo.list_tasks');
    const refused = await call(deployment, access_token, 'coordination.get_status');
    assert.equal(refused.error?.['code'], -32101);
  });

  it('returns 403 insufficient_scope if the URL selects more toolsets than were granted', async () => {
    const { access_token } = await app.signIn(ada, { agentName: 'Only to-dos', toolsets: ['todo'] });
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const response = await fetch(`${deployment.mcp}/coordination`, { method: 'POST', headers, body });
    assert.equal(response.status, 403);
    assert.match(
      response.headers.get('www-authenticate') ?? '',
      /resource_metadata="[^"]+\/mcp\/coordination", scope="muster:read muster:write", error="insufficient_scope"/,
    );
  });

  it('grants read-only access if the app requests only that, even if the page sends more rights', async () => {
    const started = await app.begin({ scope: 'muster:read offline_access profile' });
    const visitor = new Visitor();
    const page = await visitor.settings(started.url);
    const proposed = await visitor.identify(page, ada);
    assert.deepEqual(proposed.readonly, { value: true, fixed: true });
    const { text } = await visitor.decide(page, proposed, { readonly: false, agentName: 'Reader' });
    const { scope, access_token } = await app.redeem(new URL(JSON.parse(text).location), started);
    assert.equal(scope, 'muster:read');
    const adding = await call(deployment, access_token, 'todo.add_task', { title: 'Buy milk' });
    assert.equal(adding.error?.['code'], -32101);
  });

  it('proposes the permissions of the person, and rejects a choice that exceeds them', async () => {
    const ben = await deployment.person('Ben', 'worker');
    const started = await app.begin({ scope: 'offline_access' });
    const visitor = new Visitor();
    const page = await visitor.settings(started.url);
    const proposed = await visitor.identify(page, ben);
    const { approval: _approval, workspaces, ...shown } = proposed;
    // The list can also contain open workspaces that other tests created.
    assert.ok(workspaces.includes('default'));
    assert.deepEqual(shown, {
      person: { name: 'Ben', email: ben.email },
      agentName: 'Pencil (Ben)',
      role: 'worker',
      roles: ['viewer', 'worker'],
      toolsets: [
        ...['onboarding', 'access', 'system', 'firebase', 'github', 'coordination', 'todo'],
        ...['orchestration', 'coding', 'inbox'],
      ],
      proposed: [
        ...['onboarding', 'system', 'firebase', 'github', 'coordination', 'todo'],
        ...['orchestration', 'coding', 'inbox'],
      ],
      readonly: { value: false, fixed: false },
    });
    for (const more of [{ role: 'leader' }, { role: 'admin' }, { workspace: 'nowhere' }]) {
      const { status, text } = await visitor.decide(page, proposed, more);
      assert.deepEqual([status, text], [400, '{"error":"not_allowed"}'], JSON.stringify(more));
    }
    for (const nothing of [{ toolsets: [] }, { toolsets: ['nothing'] }, { role: 'king' }, { agentName: '' }]) {
      const { status, text } = await visitor.decide(page, proposed, nothing);
      assert.deepEqual([status, text], [400, '{"error":"invalid"}'], JSON.stringify(nothing));
    }
    const { text } = await visitor.decide(page, proposed, { toolsets: ['access'] });
    const { access_token } = await app.redeem(new URL(JSON.parse(text).location), started);
    const { limits } = await resultOf(access_token, 'access.whoami');
    assert.ok(limits instanceof Object && 'role' in limits);
    assert.equal(limits.role, 'worker');
  });

  it('proposes to a leader the role worker without the toolset access', async () => {
    const { access_token } = await app.signIn(ada, { agentName: 'Least' });
    const { error } = await call(deployment, access_token, 'access.list_members');
    assert.equal(error?.['code'], -32101);
    const listed = await connectionsOf(await idTokenOf(ada));
    const { role, toolsets } = listed.find(({ name }) => name === 'Least');
    assert.equal(role, 'worker');
    assert.ok(!toolsets.includes('access') && toolsets.includes('coordination'));
  });

  it('proposes the toolsets in the URL; it proposes the toolset access only for the URL /access', async () => {
    for (const [below, toolsets] of [
      ['/todo', ['todo']],
      ['/access', ['access']],
      ['/network', ['onboarding', 'system', 'firebase', 'github']],
    ] as const) {
      const narrow = await App.registered(deployment, `Pencil at ${below}`, below);
      const visitor = new Visitor();
      const page = await visitor.settings((await narrow.begin()).url);
      const { role, proposed } = await visitor.identify(page, ada);
      assert.deepEqual([role, [...proposed].sort()], ['worker', [...toolsets].sort()], below);
    }
  });

  it('rejects a person without a role until the person is invited', async () => {
    const eve = await deployment.person('Eve', 'none');
    const visitor = new Visitor();
    const started = await app.begin();
    const page = await visitor.settings(started.url);
    const cold = await idTokenOf(eve);
    const { status, text } = await visitor.post(page.personUrl, { authorization: page.authorization, idToken: cold });
    assert.deepEqual([status, text], [400, '{"error":"no_role"}']);
    const inviting = await idTokenOf(ada);
    const workspace = `guild-${eve.uid}`;
    await resultOf(inviting, 'access.create_workspace', { name: workspace });
    await resultOf(inviting, 'access.invite', { workspace, email: eve.email, role: 'worker' });
    const proposed = await visitor.identify(page, eve);
    assert.deepEqual([proposed.workspaces, proposed.roles], [[workspace], ['viewer', 'worker']]);
    const decided = await visitor.decide(page, proposed, { toolsets: proposed.toolsets });
    const tokens = await app.redeem(new URL(JSON.parse(decided.text).location), started);
    const { this_call } = await resultOf(tokens.access_token, 'access.whoami');
    assert.equal(this_call, workspace);
  });

  it('uses one agent on two devices of a person, and the latest choice applies to both devices', async () => {
    const kim = await deployment.person('Kim', 'leader');
    const laptop = await app.signIn(kim, EVERYTHING);
    const desktop = await app.signIn(kim, { role: 'worker', toolsets: ['access', 'todo'] });
    const listed = await connectionsOf(desktop.access_token);
    assert.equal(listed.length, 2);
    assert.equal(new Set(listed.map(({ agent_id }) => agent_id)).size, 1);
    for (const { toolsets, role } of listed) assert.deepEqual([toolsets, role], [['access', 'todo'], 'worker']);
    deployment.move(5000);
    assert.equal((await call(deployment, laptop.access_token, 'coordination.get_status')).error?.['code'], -32101);
    const again = await app.refresh(laptop.refresh_token);
    await resultOf(again.access_token, 'todo.list_tasks');
    await app.signIn(kim, EVERYTHING);
    for (const { toolsets } of await connectionsOf(again.access_token)) assert.equal(toolsets, undefined);
  });

  it('rejects a name that already belongs to an agent with an API key', async () => {
    const { access_token } = await app.signIn(ada, { agentName: 'Registering' });
    const agentInfo = { name: 'robot', type: 'developer', version: '1.0.0' };
    await resultOf(access_token, 'onboarding.registerAgent', {
      agentInfo,
      capabilities: [{ name: 'drawing', category: 'art' }],
    });
    const visitor = new Visitor();
    const page = await visitor.settings((await app.begin()).url);
    const { status, text } = await visitor.decide(page, await visitor.identify(page, ada), { agentName: 'robot' });
    assert.deepEqual([status, text], [400, '{"error":"name_taken"}']);
  });

  it('creates a separate agent for another app that has the name of the first app', async () => {
    const lee = await deployment.person('Lee', 'leader');
    const spoofing = await App.registered(deployment, 'Pencil', '', 'https://evil.example/callback');
    const started = await spoofing.begin();
    const back = await new Visitor().allow(started.url, lee, { toolsets: ['todo'], readonly: true });
    const spoofed = await spoofing.redeem(back, started, 'https://evil.example/callback');
    const visitor = new Visitor();
    const asked = await app.begin();
    const page = await visitor.settings(asked.url);
    const proposed = await visitor.identify(page, lee);
    assert.equal(proposed.agentName, 'Pencil (Lee) 2');
    const same = await visitor.decide(page, proposed, { agentName: 'Pencil (Lee)' });
    assert.deepEqual([same.status, same.text], [400, '{"error":"name_taken"}']);
    const { text } = await visitor.decide(page, proposed, EVERYTHING);
    const { access_token } = await app.redeem(new URL(JSON.parse(text).location), asked);
    assert.equal((await connectionsOf(access_token)).length, 2);
    deployment.move(5000);
    const { error } = await call(deployment, spoofed.access_token, 'coordination.get_status');
    assert.equal(error?.['code'], -32101);
    const again = new Visitor();
    const reopened = await again.settings((await spoofing.begin()).url);
    assert.equal((await again.identify(reopened, lee)).agentName, 'Pencil (Lee)');
  });

  it('revokes the agents registered by the app if the connection of the app is revoked', async () => {
    const sue = await deployment.person('Sue', 'leader');
    const { access_token } = await app.signIn(sue, EVERYTHING);
    const agentInfo = { name: 'offspring', type: 'developer', version: '1.0.0' };
    const made = await resultOf(access_token, 'onboarding.registerAgent', {
      agentInfo,
      capabilities: [{ name: 'drawing', category: 'art' }],
    });
    const { credentials } = z.object({ credentials: z.object({ apiKey: z.string(), secret: z.string() }) }).parse(made);
    const credential = `${credentials.apiKey}.${credentials.secret}`;
    assert.equal((await call(deployment, credential, 'access.whoami')).status, 200);
    const { agent } = await resultOf(access_token, 'access.whoami');
    assert.ok(agent instanceof Object && 'id' in agent);
    await resultOf(access_token, 'access.revoke_connection', { agent_id: agent.id });
    deployment.move(5000);
    assert.equal((await call(deployment, credential, 'access.whoami')).status, 401);
  });

  it('becomes invalid if the person is disabled or loses the role', async () => {
    for (const loss of ['disabled', 'role'] as const) {
      const someone = await deployment.person('Gone', 'worker');
      const { uid } = someone;
      const { access_token, refresh_token } = await app.signIn(someone);
      if (loss === 'disabled') await getAuth(firebaseApp()).updateUser(uid, { disabled: true });
      else await deployment.composition.kernel.store.commit([{ kind: 'setPerson', uid, role: 'none' }]);
      deployment.move(60_000);
      await assert.rejects(app.refresh(refresh_token), { error: 'invalid_grant' }, loss);
      deployment.move(5000);
      assert.equal((await call(deployment, access_token, 'access.whoami')).status, 401, loss);
    }
  });

  it('is valid at the URL of the sign-in and at URLs below it', async () => {
    const todo = await App.registered(deployment, 'To-dos', '/todo');
    assert.equal(todo.resource, `${deployment.mcp}/todo`);
    const narrow = await todo.signIn(ada, { agentName: 'Below' });
    const wide = await app.signIn(ada, { agentName: 'Above' });
    const status = async (token: string, below: string) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const url = `${deployment.mcp}${below}`;
      const response = await fetch(url, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    };
    assert.deepEqual([await status(wide.access_token, ''), await status(wide.access_token, '/todo')], [200, 200]);
    assert.deepEqual(
      [await status(narrow.access_token, '/todo'), await status(narrow.access_token, '/todo/readonly')],
      [200, 200],
    );
    for (const below of ['', '/coordination', '/rpc'])
      assert.equal(await status(narrow.access_token, below), 401, below);
  });

  it('creates a separate agent for another URL of the same app', async () => {
    const max = await deployment.person('Max', 'leader');
    const wide = await app.signIn(max);
    const todo = await App.registered(deployment, 'Pencil', '/todo');
    assert.equal(todo.client.client_id, app.client.client_id);
    const visitor = new Visitor();
    const page = await visitor.settings((await todo.begin()).url);
    const proposed = await visitor.identify(page, max);
    assert.deepEqual([proposed.agentName, proposed.toolsets], ['Pencil (Max) 2', ['todo']]);
    assert.equal((await visitor.decide(page, proposed)).status, 200);
    deployment.move(5000);
    await resultOf(wide.access_token, 'coordination.get_status');
  });

  it('reports access_denied to the app if the person cancels', async () => {
    const started = await app.begin();
    const visitor = new Visitor();
    const { authorization, decisionUrl } = await visitor.settings(started.url);
    const { text } = await visitor.post(decisionUrl, { authorization, allow: false });
    const back = new URL(JSON.parse(text).location);
    assert.equal(`${back.origin}${back.pathname}`, REDIRECT);
    assert.deepEqual(
      [back.searchParams.get('error'), back.searchParams.get('state'), back.searchParams.get('iss')],
      ['access_denied', started.state, deployment.origin],
    );
    const again = await visitor.post(decisionUrl, { authorization, allow: false });
    assert.deepEqual([again.status, again.text], [400, '{"error":"expired"}']);
  });
});
