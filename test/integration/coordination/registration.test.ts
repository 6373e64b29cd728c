import assert from 'node:assert/strict';
import type { AgentDraft, Registered } from '../../../functions/src/agents/rules/registration.ts';
import { CREDENTIAL_DAYS } from '../../../functions/src/identity/rules/credential.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Operation } from '../../../functions/src/kernel/commit.ts';
import { personOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';
import { Team, unkeyed } from './team.ts';

const withoutKey: Operation = {
  argumentsHash: undefined,
  recordResponse: unkeyed,
  derivedSecret: unkeyed,
  derivedId: unkeyed,
};

const draft = (changes: Partial<AgentDraft> = {}): AgentDraft => ({
  name: 'coder',
  type: 'developer',
  version: '1.0.0',
  capability_details: [{ name: 'coding', category: 'work' }],
  configuration: { max_concurrent_tasks: 2, timeout: 30_000, retry_policy: { max_retries: 3, backoff_ms: 1000 } },
  ...changes,
});

describe('registerAgent', () => {
  let team: Team;
  let ada: Principal;

  const register = (as = ada, changes: Partial<AgentDraft> = {}, operation = withoutKey): Promise<Registered> =>
    team.app.services.registration.register(
      { principal: as, workspace: 'default' },
      draft(changes),
      operation,
      unkeyed,
    );
  const bearer = ({ credential, secret }: Registered): string => `${credential.api_key}.${secret}`;
  const authenticate = (credential: string, app = team.app) => app.services.authenticator.authenticate(credential);

  const version = async (agentId: string): Promise<string> => {
    const found = await team.app.access.ports.agents.find(agentId);
    assert.ok(found);
    return found.version;
  };

  beforeEach(async () => {
    team = new Team();
    ada = personOf(`ada-${team.workspace}`, 'leader');
    await team.app.kernel.store.commit([{ kind: 'setPerson', uid: ada.uid, role: 'leader' }]);
  });

  it('returns a credential that authenticates as the agent', async () => {
    const registered = await register(ada, { workspace: 'alpha' });
    assert.match(registered.agent.id, /^coder-[0-9a-f]{8}$/);
    // The owner is compared separately. The comparison omits the owner's rights in workspaces of other tests.
    const { owner, ...principal } = await authenticate(bearer(registered));
    assert.deepEqual([owner.role, owner.workspaces], ['leader', {}]);
    assert.deepEqual(principal, {
      uid: `agent:${registered.agent.id}`,
      kind: 'agent',
      agent_id: registered.agent.id,
      owner_uid: ada.uid,
      maxRole: 'worker',
      workspace: 'alpha',
      lineage: [{ subject: `key:${registered.credential.api_key}`, agent_id: registered.agent.id }],
    });
    const stored = await team.app.access.ports.agents.credentials(registered.agent.id);
    assert.equal(stored.length, 1);
    assert.ok(!JSON.stringify(stored).includes(registered.secret), 'the secret is never stored');
  });

  it('updates the profile and replaces the credential of a registered agent', async () => {
    const first = await register();
    await authenticate(bearer(first));
    team.pass(100);
    const second = await register(ada, { version: '2.0.0', description: 'Better' });
    assert.equal(second.agent.id, first.agent.id);
    assert.deepEqual([second.agent.version, second.agent.description], ['2.0.0', 'Better']);
    assert.deepEqual(second.agent.registered_at, first.agent.registered_at);
    assert.notEqual(second.secret, first.secret);
    assert.equal((await refusal(() => authenticate(bearer(first)))).code, 'UNAUTHORIZED');
    assert.equal((await authenticate(bearer(second))).agent_id, first.agent.id);
  });

  it('keeps the completed tasks, held tasks and roles of an agent that registers again', async () => {
    const { agent } = await register();
    const request = { agentId: agent.id, role: 'worker' as const, workspace: team.workspace };
    await team.app.services.membership.join(ada, request, unkeyed);
    const [first, second] = await team.create({}, {});
    await team.claim(agent.id);
    await team.complete(agent.id, first?.id ?? '');
    await team.claim(agent.id);
    const again = (await register()).agent;
    assert.deepEqual([again.tasks_completed, Object.keys(again.held)], [1, [second?.id]]);
    assert.deepEqual([again.parts, again.workspace], [{ [team.workspace]: 'worker' }, undefined]);
  });

  it('creates another agent if the owner or the name is different', async () => {
    const ben = { ...ada, uid: `ben-${team.workspace}`, owner_uid: `ben-${team.workspace}` };
    const ids = [await register(), await register(ben), await register(ada, { name: 'tester' })];
    assert.equal(new Set(ids.map(({ agent }) => agent.id)).size, 3);
  });

  it("grants at most the caller's own role", async () => {
    const worker: Principal = { ...ada, owner: { ...ada.owner, role: 'worker' } };
    for (const role of ['leader', 'admin'] as const)
      assert.equal((await refusal(() => register(worker, { role }))).details.field, 'role');
    assert.equal((await refusal(() => register(ada, { role: 'admin' }))).code, 'FORBIDDEN');
    assert.equal((await register(ada, { role: 'leader' })).agent.role, 'leader');
    assert.equal((await register(ada)).agent.role, 'leader', 'the role stays if none is given');
    assert.equal((await refusal(() => register(worker))).code, 'FORBIDDEN', "above the caller's role");
    assert.equal((await register(worker, { role: 'viewer' })).agent.role, 'viewer');
  });

  it('assigns a longer id if an agent of another owner has the id', async () => {
    const { agent } = await register(); // To get the id that registration assigns to this name.
    const eve: Principal = { ...ada, uid: 'eve', owner_uid: 'eve' };
    await team.app.kernel.store.commit([
      { kind: 'replaceAgent', agent: { ...agent, owner_uid: eve.owner_uid }, version: await version(agent.id) },
    ]);
    const own = (await register()).agent;
    assert.notEqual(own.id, agent.id);
    assert.match(own.id, /^coder-[0-9a-f]{16}$/);
    assert.equal((await register()).agent.id, own.id, 'the second call finds the agent');
    assert.equal((await team.app.access.ports.agents.find(agent.id))?.value.owner_uid, 'eve');
  });

  it('assigns an id even if another caller has requested this id in register_agent before', async () => {
    const ben: Principal = { ...ada, uid: `ben-${team.workspace}`, owner_uid: `ben-${team.workspace}` };
    const { hashing } = team.app.kernel;
    const digest = hashing.sha256(`${ada.owner_uid}\ncoder`);
    const join = (as: Principal, agentId: string) =>
      team.app.services.membership.join(as, { agentId, role: 'worker', workspace: team.workspace }, unkeyed);
    for (const digits of [8, 16]) {
      const id = `coder-${digest.slice(0, digits)}`;
      assert.notEqual((await join(ben, id)).agent.id, id);
    }
    const { agent } = await register();
    assert.deepEqual([agent.id, agent.owner_uid], [`coder-${digest.slice(0, 8)}`, ada.owner_uid]);
    await join(ada, agent.id);
  });

  it("keeps a credential's restrictions, and gives new agents the caller's restrictions", async () => {
    const first = await register();
    const narrow = async (toolsets: string[]) => {
      const [known] = await team.app.access.ports.agents.credentials(first.agent.id);
      assert.ok(known);
      const credential = { ...known, api_key: `mk_${team.app.kernel.randomness.letters(20)}`, toolsets };
      await team.app.kernel.store.commit([
        { kind: 'withdrawCredential', apiKey: known.api_key },
        { kind: 'issueCredential', credential },
      ]);
      return authenticate(`${credential.api_key}.${first.secret}`);
    };
    const itself = await narrow(['onboarding', 'todo']);
    assert.deepEqual(itself.toolsets, ['onboarding', 'todo']);
    assert.deepEqual((await register(itself)).credential.toolsets, ['onboarding', 'todo']);
    assert.deepEqual((await register(itself, { name: 'sub' })).credential.toolsets, ['onboarding', 'todo']);
    const { credential, secret } = await register(ada, { name: 'lead', role: 'leader' });
    const leader = await authenticate(`${credential.api_key}.${secret}`);
    assert.deepEqual((await register(leader)).credential.toolsets, ['onboarding', 'todo']);
    assert.deepEqual((await register(ada)).credential.toolsets, ['onboarding', 'todo']);
    const wider = await register(ada, { limits: { toolsets: null } });
    assert.equal(wider.credential.toolsets, undefined, 'the owner in person can remove the restriction');
  });

  it("prevents a leader agent from changing or acting as its owner's admin agent", async () => {
    const owner: Principal = { ...ada, owner: { ...ada.owner, role: 'admin' } };
    await team.app.kernel.store.commit([{ kind: 'setPerson', uid: ada.uid, role: 'admin' }]);
    const admin = await register(owner, { name: 'chief', role: 'admin' });
    const leader = await authenticate(bearer(await register(owner, { name: 'lead', role: 'leader' })));
    for (const role of [undefined, 'worker', 'leader'] as const)
      assert.equal((await refusal(() => register(leader, { name: 'chief', role }))).code, 'FORBIDDEN');
    const worker = await register(owner);
    assert.equal((await refusal(() => register(leader, { role: 'leader' }))).details.field, 'role');
    const join = (as: Principal, agentId: string) =>
      team.app.services.membership.join(as, { agentId, role: 'worker', workspace: team.workspace }, unkeyed);
    const { liveness } = team.app.services;
    const acting = () => liveness.actAs(leader, team.workspace, admin.agent.id);
    assert.equal((await refusal(acting)).code, 'NOT_FOUND');
    await join(leader, worker.agent.id);
    await join(owner, admin.agent.id);
    assert.equal((await authenticate(bearer(admin))).maxRole, 'admin');
  });

  it('creates a credential; responses report its expiry and how to renew it', async () => {
    const registered = await register();
    team.pass(CREDENTIAL_DAYS * 24 * 3600 - 1);
    await authenticate(bearer(registered));
    team.pass(6);
    const error = await refusal(() => authenticate(bearer(registered)));
    assert.equal(error.code, 'TOKEN_EXPIRED');
    assert.match(error.details.suggestion ?? '', /with the same name/);
  });

  it('leaves one credential if an agent registers several times concurrently', async () => {
    await Promise.all(Array.from({ length: 5 }, () => register()));
    const [{ agent }] = await Promise.all([register(), register()]);
    assert.equal((await team.app.access.ports.agents.credentials(agent.id)).length, 1);
  });

  it('leaves the agent offline until its first call; after each absence, a call marks it active', async () => {
    const registered = await register();
    const agentId = registered.agent.id;
    const status = async () => (await team.app.access.ports.agents.find(agentId))?.value.status;
    assert.equal(await status(), 'offline');
    for (let visit = 0; visit < 2; visit++) {
      await authenticate(bearer(registered));
      assert.equal(await status(), 'active');
      await team.app.access.ports.presence.touch(agentId);
      team.pass(200);
      await team.sweep();
      assert.equal(await status(), 'offline');
    }
  });
});
