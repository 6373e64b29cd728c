/** The agents through which people are connected: who sees them, and who disconnects them. */
import assert from 'node:assert/strict';
import type { WantedLimits } from '../../../functions/src/access/rules/limits.ts';
import type { Principal, Role } from '../../../functions/src/access/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { refusal } from '../../unit/samples.ts';
import { Town, withName } from './town.ts';

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
