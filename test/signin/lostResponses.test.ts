/** If the response to a commit of the sign-in is lost, the commit is applied once, and the sign-in continues. */
import assert from 'node:assert/strict';
import { LossyConnections } from '../support/lossyFirestore/connections.ts';
import { LOST, type Loss, type LostStatus } from '../support/lossyFirestore/proxy.ts';
import { defaultOrNightly } from '../support/nightly.ts';
import { App, call } from './support/app.ts';
import { Deployment, type Someone } from './support/deployment.ts';
import { EVERYTHING, locationIn, Visitor } from './support/visitor.ts';

/** Status codes of lost responses. The default run uses only the most frequent, as the store handles all alike. */
const STATUSES = defaultOrNightly<readonly LostStatus[]>(['UNAVAILABLE'], {
  night: Object.keys(LOST) as readonly LostStatus[],
});

describe('sign-in with lost commit responses', () => {
  let lanes: LossyConnections;

  before(async () => {
    lanes = await LossyConnections.open(1);
  });
  after(() => lanes?.close());

  for (const status of STATUSES)
    it(`completes if each step loses the response to its commit with the status ${status}`, () =>
      lanes.use(async ({ database, proxy }) => {
        const deployment = await Deployment.start({ database });
        const ada: Someone = await deployment.person('Ada', 'leader');
        /** Runs a step and loses the response to its commit. Fails if the step does not commit exactly once. */
        const losing = async <Result>(step: () => Promise<Result>): Promise<Result> => {
          const loss: Loss = { commit: 1, status, what: 'answer' };
          proxy.begin(loss);
          const result = await step();
          assert.equal(proxy.seen.lost, 1);
          proxy.begin();
          return result;
        };
        const app = await losing(() => App.registered(deployment, `Pencil ${ada.uid}`));
        const started = await app.begin();
        const visitor = new Visitor();
        const page = await losing(() => visitor.settings(started.url));
        const proposed = await losing(() => visitor.identify(page, ada));
        const decided = await losing(() => visitor.decide(page, proposed, EVERYTHING));
        assert.equal(decided.status, 200, decided.text);
        const first = await losing(() => app.redeem(locationIn(decided.text), started));
        const second = await losing(() => app.refresh(first.refresh_token));
        assert.equal((await app.refresh(first.refresh_token)).refresh_token, second.refresh_token);
        const me = await call(deployment, second.access_token, 'access.whoami');
        assert.equal(me.status, 200);
        const listed = await call(deployment, second.access_token, 'access.list_connections');
        assert.ok(Array.isArray(listed.result?.['connections']) && listed.result['connections'].length === 1);
        const body = new URLSearchParams({ token: second.refresh_token });
        const revoked = await losing(() => fetch(app.server.revocation_endpoint ?? '', { method: 'POST', body }));
        assert.equal(revoked.status, 200);
        await assert.rejects(app.refresh(second.refresh_token), { error: 'invalid_grant' });
        await deployment.stop();
      }));
});
