/** Tests security rules through the SDKs. */
import assert from 'node:assert/strict';
import { assertFails, assertSucceeds, initializeTestEnvironment } from '@firebase/rules-unit-testing';
import { type Server, startServer } from '../src/server.ts';
import { eventually } from './support/eventually.ts';
import { adminSdk, clientSdk, type Sdk } from './support/sdk.ts';

const playersRules = {
  rules: {
    '.read': false,
    '.write': false,
    players: {
      '.indexOn': ['score'],
      '.read': 'query.orderByChild === "score" && query.limitToLast <= 10',
      $uid: {
        '.read': 'auth != null && auth.uid === $uid',
        '.write': 'auth != null && auth.uid === $uid',
        '.validate': 'newData.hasChildren(["name","score"])',
        name: { '.validate': 'newData.isString() && newData.val().length < 20' },
        score: { '.validate': 'newData.isNumber() && newData.val() >= 0' },
        $other: { '.validate': false },
      },
    },
  },
};

describe('rules', () => {
  let server: Server;
  let admin: Sdk;
  let alice: Sdk;
  let stranger: Sdk;

  before(async () => {
    server = await startServer();
    admin = adminSdk(server, 'rules');
    alice = clientSdk(server, 'rules', 'alice');
    stranger = clientSdk(server, 'rules');
    const url = `http://127.0.0.1:${server.port}/.settings/rules.json?ns=rules`;
    const headers = { authorization: 'Bearer owner' };
    await fetch(url, { method: 'PUT', headers, body: JSON.stringify(playersRules) });
    await admin.set('players', { alice: { name: 'A', score: 5 }, bob: { name: 'B', score: 9 } });
  });
  after(async () => {
    await Promise.all([admin, alice, stranger].map((sdk) => sdk.close()));
    await server.close();
  });

  it("allow a user to write valid data at the user's path", async () => {
    await alice.set('players/alice', { name: 'Al', score: 6 });
    await assert.rejects(alice.set('players/bob', { name: 'x', score: 1 }), /PERMISSION_DENIED/);
    await assert.rejects(alice.set('players/alice', { name: 'Al', score: -1 }), /PERMISSION_DENIED/);
    await assert.rejects(alice.set('players/alice', { name: 'Al', score: 1, extra: 1 }), /PERMISSION_DENIED/);
  });

  it("deny reads of another user's path", async () => {
    await assert.rejects(alice.get('/'), /denied/i);
    await assert.rejects(stranger.get('players/alice'), /denied/i);
    await assert.rejects(stranger.once('players/alice'), /permission_denied/i);
  });

  it('can allow a read depending on its query', async () => {
    const top = await stranger.get('players', ['orderByChild', 'score'], ['limitToLast', 1]);
    assert.deepEqual(top.keys(), ['bob']);
    await assert.rejects(stranger.get('players'), /denied/i);
  });

  it('deny a transaction that writes forbidden data', () =>
    assert.rejects(
      alice.transaction('players/bob/score', (score) => Number(score ?? 0) + 1),
      /denied/i,
    ));

  it('make the client revert a write that they deny', async () => {
    const seen: unknown[] = [];
    const end = alice.on('value', ({ value }) => seen.push(value), 'players/alice/score');
    await eventually(() => assert.deepEqual(seen, [6]));
    await alice.set('players/alice/score', -5).catch(() => {});
    await eventually(() => assert.deepEqual(seen, [6, -5, 6]));
    end();
  });
});

describe('@firebase/rules-unit-testing', () => {
  const rules = `{ // comments and
    "rules": {
      "users": { "$uid": {
        ".read": "auth.uid === $uid",
        ".write": "auth.uid === $uid || auth.token.admin === true",
        ".validate": "newData.hasChildren(['name']) && newData.child('name').val().matches(/^[a-z]{2,8}$/i)"
      } },
      "lobby": {
        ".indexOn": ["score", ".value"],
        ".read": "query.orderByChild === 'score' && query.limitToLast <= 5"
      }
    }
  }`;
  let server: Server;

  before(async () => {
    server = await startServer();
  });
  after(() => server.close());

  it('loads rules, acts as any user and clears the database', async () => {
    const database = { host: '127.0.0.1', port: server.port, rules };
    const environment = await initializeTestEnvironment({ projectId: 'demo-rules', database });
    const alice = environment.authenticatedContext('alice').database();
    const admin = environment.authenticatedContext('root', { admin: true }).database();
    const stranger = environment.unauthenticatedContext().database();
    await assertSucceeds(alice.ref('users/alice').set({ name: 'Alice' }));
    await assertSucceeds(alice.ref('users/alice').get());
    await assertFails(alice.ref('users/alice').set({ name: 'A1' }));
    await assertFails(alice.ref('users/alice').set({ other: 1 }));
    await assertFails(alice.ref('users/bob').set({ name: 'Bob' }));
    await assertSucceeds(admin.ref('users/bob').set({ name: 'Bob' }));
    await assertFails(stranger.ref('users/alice').once('value'));
    await assertFails(alice.ref().update({ 'users/alice': { name: 'Ok' }, 'users/bob': { name: 'No' } }));
    await environment.withSecurityRulesDisabled(async (context) => {
      await context
        .database()
        .ref('lobby')
        .set({ p: { score: 1 }, q: { score: 3 } });
    });
    await assertSucceeds(stranger.ref('lobby').orderByChild('score').limitToLast(1).get());
    await assertFails(stranger.ref('lobby').get());
    await assertFails(stranger.ref('lobby').orderByChild('score').limitToLast(50).get());
    await environment.clearDatabase();
    assert.equal(server.store.namespace('demo-rules').root, null);
    await environment.cleanup();
  });

  it('reports invalid rules', async () => {
    const database = { host: '127.0.0.1', port: server.port, rules: '{"rules":{".read":"nope()"}}' };
    await assert.rejects(initializeTestEnvironment({ projectId: 'demo-rules', database }));
  });
});
