/** What Firestore bills for the check of a credential: signing in may make no call dearer. */
import assert from 'node:assert/strict';
import { Firestore } from '@google-cloud/firestore';
import { addCallers, addGrant, newProject } from '../../../bench/seed.ts';
import { type Bill, NOTHING, plus } from '../../../bench/wire/bill.ts';
import { type Meter, openMeter } from '../../../bench/wire/meter.ts';
import { compose } from '../../../functions/src/app.ts';
import { systemClock } from '../../../functions/src/kernel/platform.ts';

const HOST = 'FIRESTORE_EMULATOR_HOST';

describe('the check of a credential', () => {
  const project = newProject('credential-cost');
  let meter: Meter;
  let database: Firestore;

  before(async () => {
    const emulator = process.env[HOST] ?? '';
    meter = await openMeter(emulator);
    // The SDK takes the address from the environment as the client is made, whatever its settings say.
    process.env[HOST] = meter.host;
    database = new Firestore({ projectId: project.id });
    process.env[HOST] = emulator;
  });

  after(async () => {
    await Promise.all([database.terminate(), project.firestore.terminate()]);
    meter.close();
  });

  it('reads four documents for a key, and no more for an access token', async () => {
    const { services } = compose({ clock: systemClock, database });
    const [worker] = await addCallers(project, 'worker');
    assert.ok(worker);
    const { clientId, code, verifier } = await addGrant(project, worker.agentId);
    const asked = { clientId, verifier, redirectUri: undefined, resource: undefined };
    const { accessToken } = await services.signIn.tokens.redeem(code, asked);

    const billOf = async (credential: string): Promise<Bill> => {
      meter.take();
      const { agentId } = await services.authenticator.authenticate(credential, '127.0.0.1');
      assert.equal(agentId, worker.agentId);
      return meter.take().reduce((sum, call) => plus(sum, call.bill), NOTHING);
    };
    assert.deepEqual(await billOf(worker.credential), { ...NOTHING, reads: 4 });
    assert.deepEqual(await billOf(accessToken), { ...NOTHING, reads: 4 });
    // For some seconds the instance remembers it.
    assert.deepEqual(await billOf(accessToken), NOTHING);
  });
});
