import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { answer, call, refusedWith } from './calls.ts';
import { Team } from './team.ts';

describe('idempotency_key', () => {
  let team: Team;
  let ann: string;
  let key: string;

  const create = (changes: JsonObject = {}) =>
    answer(team, 'coordination_create_task', { description: 'A', idempotency_key: key, ...changes });

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
    key = randomUUID();
  });

  it('makes a repeated call return the first response and change nothing', async () => {
    const first = await create();
    team.pass(3600);
    assert.deepEqual(await create(), first);
    assert.deepEqual(await create({ priority: 5 }), first, 'an explicit default value counts as equal');
    assert.match(
      await refusedWith(team, 'coordination_create_task', { description: 'B', idempotency_key: key }),
      /used with other arguments/,
    );
    assert.deepEqual(await team.counts(), { available: 1 });
  });

  it('can be used again if the call was rejected', async () => {
    const rawArguments = { description: 'A', dependencies: ['task-xxx-404'], idempotency_key: key };
    for (let attempt = 0; attempt < 2; attempt++)
      assert.match(await refusedWith(team, 'coordination_create_task', rawArguments), /Unknown dependency/);
    await create();
  });

  it('makes a repeated claim return the same task and epoch, even after completion', async () => {
    await team.create({}, {});
    const claim = () =>
      answer(team, 'coordination_claim_task', { agent_id: ann, idempotency_key: key }, team.principal('ann'));
    const first = await claim();
    assert.deepEqual(await claim(), first, 'the first response is returned, without the field resumed');
    const [task] = await team.tasks();
    await team.complete(ann, task?.id ?? '');
    assert.deepEqual(await claim(), first);
    assert.deepEqual(await team.counts(), { available: 1, done: 1 });
  });

  it('makes a claim that returned no task return none again, even if a task is now claimable', async () => {
    const claim = () =>
      answer(team, 'coordination_claim_task', { agent_id: ann, idempotency_key: key }, team.principal('ann'));
    const none = await claim();
    await team.createOne();
    assert.deepEqual(await claim(), none);
  });

  /** Makes one call at several instances concurrently, and asserts that all responses are equal. */
  async function atOnce(name: string, rawArguments: JsonObject): Promise<void> {
    const instances = [team.app, team.anotherInstance(), team.anotherInstance(), team.anotherInstance()];
    const keyed = { ...rawArguments, idempotency_key: key };
    const results = await Promise.all(instances.map((app) => call(team.at({ app }), name, keyed, team.leader)));
    const [first] = results;
    for (const result of results) assert.deepEqual(result, first);
    assert.equal(first?.isError, undefined, JSON.stringify(first?.structuredContent));
    const later = await call(team, name, keyed);
    assert.deepEqual(later, first);
  }

  it('makes concurrent calls on several instances create one task', async () => {
    for (let round = 0; round < 3; round++) {
      key = randomUUID();
      await atOnce('coordination_create_task', { description: 'A' });
    }
    assert.deepEqual(await team.counts(), { available: 3 });
  });

  it('makes a repeated registration return the same secret, although no secret is stored', async () => {
    const rawArguments = {
      agentInfo: { name: 'coder', type: 'developer', version: '1.0.0' },
      capabilities: [{ name: 'coding', category: 'work' }],
    };
    await atOnce('onboarding_registerAgent', rawArguments);
    const keyed = { ...rawArguments, idempotency_key: key };
    const { credentials } = await answer(team, 'onboarding_registerAgent', keyed);
    assert.ok(credentials !== null && typeof credentials === 'object' && 'secret' in credentials);
    const principal = await team.app.services.authenticator.authenticate(
      `${credentials['apiKey']}.${credentials.secret}`,
    );
    assert.equal(principal.owner_uid, team.leader.owner_uid);
    await answer(team, 'onboarding_registerAgent', rawArguments);
    const { structuredContent, isError } = await call(team, 'onboarding_registerAgent', keyed);
    assert.equal(isError, true, 'the secret of a revoked credential is not returned again');
    assert.match(JSON.stringify(structuredContent), /cannot be shown again/);
  });
});
