/** Several instances have cached an agent's credential, and one of them changes the access of the agent. */
import assert from 'node:assert/strict';
import { newProject } from '../../../bench/seed.ts';
import { DEFAULT_CONFIGURATION } from '../../../functions/src/agents/rules/agent.ts';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import { DEFAULT_WORKSPACE, type Principal } from '../../../functions/src/identity/rules/principal.ts';
import { systemRandomness } from '../../../functions/src/kernel/platform.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { personOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';
import { UNKEYED } from '../data/callers.ts';

describe('a credential in the cache of several instances', () => {
  // A separate project, because other tests change the access of all callers in their project.
  const project = newProject('trust');
  let now: Date;
  let one: Composition;
  let other: Composition;
  let owner: Principal;
  let bearer: string;
  let agentId: string;

  beforeEach(async () => {
    now = new Date();
    const bindings = { clock: { now: () => now }, database: project.firestore };
    one = compose(externalServicesOf(bindings));
    other = compose(externalServicesOf(bindings));
    owner = personOf(`owner-${systemRandomness.letters(8)}`, 'admin');
    await one.kernel.store.commit([{ kind: 'setPerson', uid: owner.uid, role: 'leader' }]);
    const { agent, credential, secret } = await one.services.registration.register(
      { principal: owner, workspace: DEFAULT_WORKSPACE },
      {
        name: `trusted-${systemRandomness.letters(8)}`,
        type: 'developer',
        version: '1.0.0',
        capability_details: [],
        configuration: DEFAULT_CONFIGURATION,
        role: 'worker',
      },
      UNKEYED,
      () => undefined,
    );
    bearer = `${credential.api_key}.${secret}`;
    agentId = agent.id;
    // The first check found no position from which to follow access changes. The second check starts to follow them.
    await authenticated(other);
    await pass(6);
    await authenticated(other);
  });

  after(() => project.firestore.terminate());

  const authenticated = ({ services }: Composition) => services.authenticator.authenticate(bearer);

  const pass = async (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
  };

  it('is rejected by every instance within 5 seconds after its revocation', async () => {
    await one.services.revocation.revoke(agentId);
    await pass(5);
    assert.equal((await refusal(() => authenticated(other))).code, 'UNAUTHORIZED');
  });

  it('when revoked, ends within 5 seconds all credentials that were registered through it', async () => {
    const registered = async (as: Principal, name: string): Promise<string> => {
      const draft = {
        name: `${name}-${systemRandomness.letters(8)}`,
        type: 'developer' as const,
        version: '1.0.0',
        capability_details: [],
        configuration: DEFAULT_CONFIGURATION,
      };
      const { registration } = one.services;
      const { credential, secret } = await registration.register(
        { principal: as, workspace: DEFAULT_WORKSPACE },
        draft,
        UNKEYED,
        () => {},
      );
      return `${credential.api_key}.${secret}`;
    };
    const child = await registered(await authenticated(one), 'child');
    const grandchild = await registered(await one.services.authenticator.authenticate(child), 'grandchild');
    const sibling = await registered(owner, 'sibling');
    const all = [child, grandchild, sibling];
    const authenticate = (one: string) => other.services.authenticator.authenticate(one);
    for (const bearer of all) await authenticate(bearer);
    let lookups = 0;
    const { agents } = other.access.ports;
    const find = agents.findWithAgent.bind(agents);
    agents.findWithAgent = (apiKey) => {
      lookups += 1;
      return find(apiKey);
    };
    await pass(60);
    for (const bearer of all) await authenticate(bearer);
    assert.equal(lookups, 0, 'all credentials are cached');
    await one.services.revocation.revoke(agentId);
    await pass(5);
    for (const bearer of [child, grandchild])
      assert.equal((await refusal(() => authenticate(bearer))).code, 'UNAUTHORIZED');
    await authenticate(sibling);
    assert.equal(lookups, 2, 'the sibling stays cached');
  });

  it("gives the rights of its owner's new role within 5 seconds after a role change", async () => {
    await one.kernel.store.commit([{ kind: 'setPerson', uid: owner.uid, role: 'viewer' }]);
    await pass(5);
    assert.equal((await authenticated(other)).owner.role, 'viewer');
  });

  it('lets responses report unread messages of its agent within 5 seconds', async () => {
    assert.equal((await authenticated(other)).has_messages, undefined);
    await one.kernel.store.commit([{ kind: 'setHasMessages', agentId, has_messages: true }]);
    await pass(5);
    assert.equal((await authenticated(other)).has_messages, true);
  });

  it('marks its agent, if offline, as active when any instance gets a call', async () => {
    await authenticated(other);
    await pass(60);
    const known = await one.access.ports.agents.find(agentId);
    assert.ok(known);
    await one.kernel.store.commit([
      {
        kind: 'replaceAgent',
        agent: { ...known.value, status: 'offline' },
        before: known.value,
        version: known.version,
      },
    ]);
    await pass(5);
    await authenticated(other);
    assert.equal((await one.access.ports.agents.find(agentId))?.value.status, 'active');
  });

  it('is read from the database only once, however often the agent calls', async () => {
    let lookups = 0;
    const { agents } = other.access.ports;
    const find = agents.findWithAgent.bind(agents);
    agents.findWithAgent = (apiKey) => {
      lookups += 1;
      return find(apiKey);
    };
    for (let beats = 0; beats < 10; beats++) {
      await pass(60);
      await authenticated(other);
    }
    assert.equal(lookups, 0);
  });
});
