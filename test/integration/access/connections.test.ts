/** The agents through which people are connected: who sees them, and who disconnects them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { challengeOf } from '../../../functions/src/access/rules/grant.ts';
import type { WantedLimits } from '../../../functions/src/access/rules/limits.ts';
import type { Principal, Role } from '../../../functions/src/access/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { Apps } from '../../../functions/src/signin/rules/apps.ts';
import type { Decision } from '../../../functions/src/signin/rules/choices.ts';
import { refusal } from '../../unit/samples.ts';
import { Town, withName } from './town.ts';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CALLBACK = 'http://localhost:3118/callback';

const NO_KEY = {
  argumentsHash: undefined,
  recordAnswer: () => undefined,
  derivedSecret: () => undefined,
  derivedId: () => undefined,
};

const namesIn = ({ connections }: JsonObject) =>
  Array.isArray(connections) ? connections.map((one) => String(Object(one).name)).sort() : [];

describe('connections', () => {
  let town: Town;

  async function register(as: Principal, name: string, role: Role, limits: WantedLimits = {}) {
    const draft = {
      name,
      type: 'developer' as const,
      version: '1.0.0',
      capabilities: [],
      configuration: {
        maxConcurrentTasks: 1,
        timeout: 1000,
        retryPolicy: { maxRetries: 0, backoffMs: 0 },
      },
      role,
      limits,
    };
    return town.app.services.registration.register(as, 'default', draft, NO_KEY, () => undefined);
  }

  /** The tokens of an app that somebody has signed in from, and let do so much. */
  async function connect(name: string, agentName: string, chosen: Partial<Decision> = {}) {
    const { ports, services } = town.app;
    const uid = town.id(name);
    const authorization = {
      id: randomUUID(),
      browserHash: 'none',
      clientId: 'https://client.example/client.json',
      clientName: 'Claude Code',
      clientHost: 'client.example',
      redirectUri: CALLBACK,
      challenge: challengeOf(ports.hashing, VERIFIER),
      isReadonly: false,
      resource: 'https://muster.example/mcp',
      issuer: 'https://muster.example',
      person: { uid, approvalHash: 'none' },
      expiresAt: town.now,
    };
    const { id, clientId } = authorization;
    await ports.store.commit([{ kind: 'beginAuthorization', authorization }]);
    const version = (await ports.signIns.authorization(id))?.version ?? assert.fail('it was not begun');
    const apps = new Apps({ ...ports, registration: services.registration });
    const decision = { agentName, role: 'worker' as const, workspace: undefined, readonly: false, ...chosen };
    const owner = await ports.roles.of(uid);
    const ended = { kind: 'endAuthorization', id, version } as const;
    const limited = { toolsets: undefined, ...decision };
    const code = await apps.connect(authorization, limited, owner, ended);
    return services.signIn.tokens.redeem(code, {
      clientId,
      verifier: VERIFIER,
      redirectUri: CALLBACK,
      resource: undefined,
    });
  }

  const signIn = (credential: string) =>
    town.anotherInstance().services.authenticator.authenticate(credential);

  beforeEach(async () => {
    town = new Town();
    await town.arrive('ada', 'leader');
    await town.arrive('eve', 'leader');
    await town.arrive('root', 'admin');
  });

  it("are a person's own, with their limits, page by page; an admin may name another", async () => {
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

  it('are seen by agents that lead, and by others as far as they are their own', async () => {
    const ada = await town.person('ada');
    const { agent } = await register(ada, 'wide', 'leader');
    await register(ada, 'other', 'worker');
    const as = async (role: Role): Promise<Principal> => ({
      ...(await town.agentOf('ada', role)),
      agentId: agent.id,
      uid: `agent:${agent.id}`,
    });
    assert.deepEqual(namesIn(await town.ask(await as('leader'), 'list_connections')), ['other', 'wide']);
    assert.deepEqual(namesIn(await town.ask(await as('worker'), 'list_connections')), ['wide']);
  });

  it('end when they are revoked, by their owner, by an agent of theirs that leads, or by an admin', async () => {
    const ada = await town.person('ada');
    for (const revoker of [ada, await town.agentOf('ada', 'leader'), await town.person('root')]) {
      const { agent, credential, secret } = await register(ada, 'coder', 'worker');
      const bearer = `${credential.apiKey}.${secret}`;
      assert.equal((await signIn(bearer)).agentId, agent.id);
      const revoked = await town.ask(revoker, 'revoke_connection', { agent_id: agent.id });
      assert.deepEqual(revoked, { agent_id: agent.id, name: 'coder', revoked: 1 });
      assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
      const again = await town.refused(revoker, 'revoke_connection', { agent_id: agent.id });
      assert.equal(again.reason, 'NOTHING_TO_REVOKE');
    }
  });

  it('are apps, too, with what they call themselves and may do, from the moment that they have tokens', async () => {
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

  it('of an app are one for each place where somebody has signed in, and end together', async () => {
    const [laptop, desktop] = [
      await connect('ada', 'Claude Code (Ada)'),
      await connect('ada', 'Claude Code (Ada)'),
    ];
    const ada = await town.person('ada');
    const all = await town.ask(ada, 'list_connections');
    assert.deepEqual(namesIn(all), ['Claude Code (Ada)', 'Claude Code (Ada)']);
    const app = await signIn(laptop.accessToken);
    const agent_id = app.agentId ?? assert.fail('it is no agent');
    assert.equal((await signIn(desktop.accessToken)).agentId, agent_id);
    // What it has registered goes with it.
    const { credential, secret } = await register(app, 'helper', 'worker');
    const helper = `${credential.apiKey}.${secret}`;
    assert.equal((await signIn(helper)).grant?.resource, undefined);
    const hidden = await town.refused(await town.person('eve'), 'revoke_connection', { agent_id });
    const missing = await town.refused(await town.person('eve'), 'revoke_connection', {
      agent_id: 'nothing',
    });
    assert.deepEqual(withName(hidden, agent_id, 'nothing'), missing);
    const revoked = await town.ask(ada, 'revoke_connection', { agent_id });
    assert.deepEqual(revoked, { agent_id, name: 'Claude Code (Ada)', revoked: 2 });
    for (const bearer of [laptop.accessToken, desktop.accessToken, helper])
      assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
    assert.equal((await town.refused(ada, 'revoke_connection', { agent_id })).reason, 'NOTHING_TO_REVOKE');
  });

  it('of others are as if they were not there', async () => {
    const { agent } = await register(await town.person('ada'), 'coder', 'leader');
    const others = [
      await town.person('eve'),
      await town.agentOf('eve', 'leader'),
      await town.agentOf('ada', 'worker'),
      // An admin's, but for one workspace alone.
      await town.agentOf('root', 'admin', { heldTo: 'default' }),
    ];
    for (const other of others) {
      const hidden = await town.refused(other, 'revoke_connection', { agent_id: agent.id });
      const missing = await town.refused(other, 'revoke_connection', { agent_id: 'nothing' });
      assert.deepEqual(withName(hidden, agent.id, 'nothing'), missing);
    }
    assert.equal((await town.app.ports.agents.credentials(agent.id)).length, 1);
    const itself = { ...(await town.agentOf('ada', 'leader')), agentId: agent.id };
    await town.ask(itself, 'revoke_connection', { agent_id: agent.id });
  });
});
