import assert from 'node:assert/strict';
import { deleteApp, getApps, initializeApp } from 'firebase-admin/app';
import { systemRandomness } from '../../../../functions/src/kernel/platform.ts';
import { CallerClients, type Lease } from '../../../../functions/src/toolsets/firebase/realtime/callerClients.ts';

const claimsOf = (uid: string, rest: object = {}) => ({ sub: uid, role: 'worker', iat: 1, exp: 2, ...rest });

/** Returns the `auth` claims of each app that is open. */
function auths(): unknown[] {
  return getApps().flatMap(({ name, options }) =>
    name.startsWith('caller-') ? [options.databaseAuthVariableOverride] : [],
  );
}

describe('CallerClients', () => {
  const server = initializeApp({ databaseURL: 'https://muster.firebaseio.com' }, 'server');
  const open = () => new CallerClients({ app: () => server, randomness: systemRandomness });

  after(() => deleteApp(server));

  it('open an app with the claims of the caller', async () => {
    const clients = open();
    const claims = claimsOf('a', { firebase: { sign_in_provider: 'password' } });
    await clients.lease(claims);
    assert.deepEqual(auths().at(-1), { uid: 'a', provider: 'password', token: claims });
  });

  it('use one app for all tokens of a caller, and a separate app for each caller', async () => {
    const clients = open();
    const first = await clients.lease(claimsOf('a'));
    const again = await clients.lease(claimsOf('a', { iat: 5, exp: 9 }));
    const others = [claimsOf('b'), claimsOf('a', { role: 'viewer' })];
    assert.equal(again.database, first.database);
    for (const other of others) assert.notEqual((await clients.lease(other)).database, first.database);
  });

  it('keep at most 50 apps without watches, and never close an app with a watch', async () => {
    const clients = open();
    const before = auths().length;
    const leases: Lease[] = [];
    for (let index = 0; index < 60; index++) leases.push(await clients.lease(claimsOf(`many-${index}`)));
    assert.equal(auths().length - before, 60);
    for (const lease of leases.slice(0, 30)) lease.release();
    await clients.lease(claimsOf('one-more'));
    assert.equal(auths().length - before, 50);
    assert.equal((await clients.lease(claimsOf('many-59'))).database, leases[59]?.database);
    assert.notEqual((await clients.lease(claimsOf('many-0'))).database, leases[0]?.database);
  });

  it('reject claims that name no subject', () => assert.rejects(open().lease({ role: 'admin' })));
});
