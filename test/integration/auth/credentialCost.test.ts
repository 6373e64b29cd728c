/** Counts the Firestore reads of a credential check, so that calls do not become more expensive unnoticed. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Firestore } from '@google-cloud/firestore';
import { addCallers, addGrant, newProject } from '../../../bench/seed.ts';
import { type Bill, NOTHING, plus } from '../../../bench/wire/bill.ts';
import { type Meter, openMeter } from '../../../bench/wire/meter.ts';
import { DEFAULT_CONFIGURATION } from '../../../functions/src/agents/rules/agent.ts';
import { compose } from '../../../functions/src/composition/compose.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { UNKEYED } from '../data/callers.ts';

const HOST = 'FIRESTORE_EMULATOR_HOST';

const AGENT = {
  type: 'developer' as const,
  version: '1.0.0',
  capability_details: [],
  configuration: DEFAULT_CONFIGURATION,
};

describe('the credential check', () => {
  const project = newProject('credential-cost');
  let meter: Meter;
  let database: Firestore;

  before(async () => {
    const emulator = process.env[HOST] ?? '';
    meter = await openMeter(emulator);
    // When the SDK creates a client, it prefers the address in the environment to the one in its settings.
    process.env[HOST] = meter.host;
    database = new Firestore({ projectId: project.id });
    process.env[HOST] = emulator;
  });

  after(async () => {
    await Promise.all([database.terminate(), project.firestore.terminate()]);
    meter.close();
  });

  it('reads four documents for an API key, and four for an access token', async () => {
    let now = new Date();
    const { services, access } = compose(externalServicesOf({ clock: { now: () => now }, database }));
    const changes = mock.method(access.ports.accessChanges, 'since');
    const [worker] = await addCallers(project, 'worker');
    assert.ok(worker);
    const { clientId, code, verifier } = await addGrant(project, worker.agentId);
    const asked = { clientId, verifier, redirectUri: undefined, resource: undefined };
    const { accessToken } = await services.signIn.tokens.redeem(code, asked);

    const billOf = async (checked: () => Promise<{ readonly agent_id?: string }>): Promise<Bill> => {
      meter.take();
      assert.equal((await checked()).agent_id, worker.agentId);
      return meter.take().reduce((sum, call) => plus(sum, call.bill), NOTHING);
    };
    const { authenticator } = services;
    await authenticator.authenticate(worker.credential);
    // The instance also reads all access changes once, and removes the credentials they concern from its cache.
    await (await eventually('the changes are read', async () => changes.mock.calls[0])).result;
    for (const credential of [worker.credential, accessToken]) {
      assert.deepEqual(await billOf(() => authenticator.reauthenticate(credential)), { ...NOTHING, reads: 4 });
      // The instance has cached the credential by now.
      assert.deepEqual(await billOf(() => authenticator.authenticate(credential)), NOTHING);
    }
    // Each further credential in the chain above the key costs two more reads.
    let bearer = worker.credential;
    for (const ancestors of [1, 2]) {
      const draft = { ...AGENT, name: `below-${ancestors}` };
      const as = await authenticator.authenticate(bearer);
      const registered = await services.registration.register(
        { principal: as, workspace: 'default' },
        draft,
        UNKEYED,
        () => undefined,
      );
      bearer = `${registered.credential.api_key}.${registered.secret}`;
      await authenticator.authenticate(bearer);
      meter.take();
      await authenticator.reauthenticate(bearer);
      const bill = meter.take().reduce((sum, call) => plus(sum, call.bill), NOTHING);
      assert.deepEqual(bill, { ...NOTHING, reads: 4 + 2 * ancestors });
    }
    // Every 5 seconds, the instance reads the access changes once for all its cached credentials.
    now = new Date(now.getTime() + 60_000);
    assert.deepEqual(await billOf(() => authenticator.authenticate(accessToken)), { ...NOTHING, reads: 1 });
    assert.deepEqual(await billOf(() => authenticator.authenticate(worker.credential)), NOTHING);
  });
});
