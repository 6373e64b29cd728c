/** Lifetimes of codes and tokens, and their revocation after a theft. */
import assert from 'node:assert/strict';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { App, type AppTokens, call, REDIRECT } from './support/app.ts';
import { Deployment, type Someone } from './support/deployment.ts';
import { Visitor } from './support/visitor.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const NO_GOOD = { error: 'invalid_grant' };

describe('tokens of an app', () => {
  let deployment: Deployment;
  let ada: Someone;
  let app: App;

  beforeEach(async () => {
    deployment = await Deployment.start();
    ada = await deployment.person('Ada', 'leader');
    app = await App.registered(deployment, 'Pencil');
  });
  afterEach(() => deployment?.stop());

  const isGood = async (token: string): Promise<boolean> =>
    (await call(deployment, token, 'access.whoami')).status === 200;

  /** Completes a sign-in, and returns a code that the app has not yet exchanged for tokens. */
  async function newCode() {
    const started = await app.begin();
    const back = await new Visitor().allow(started.url, ada);
    const code = back.searchParams.get('code') ?? '';
    const parameters = {
      grant_type: 'authorization_code',
      client_id: app.client.client_id,
      redirect_uri: REDIRECT,
      code,
      code_verifier: started.verifier,
    };
    return { started, back, code, parameters };
  }

  it('are the same for five concurrent refreshes, and can then be refreshed again', async () => {
    const first = await app.signIn(ada);
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => app.refresh(first.refresh_token)));
    assert.equal(new Set(all.map(({ refresh_token }) => refresh_token)).size, 1);
    assert.equal(new Set(all.map(({ access_token }) => access_token)).size, 1);
    const [second] = all as [AppTokens];
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.ok((await isGood(second.access_token)) && (await isGood(first.access_token)));
    const third = await app.refresh(second.refresh_token);
    assert.notEqual(third.refresh_token, second.refresh_token);
    const late = await app.refresh(first.refresh_token);
    assert.deepEqual([late.refresh_token, late.access_token], [third.refresh_token, third.access_token]);
    assert.ok(late.expires_in <= third.expires_in && late.expires_in > 3500);
  });

  it('are revoked if a refresh token is reused more than a minute after its first use', async () => {
    const first = await app.signIn(ada);
    const second = await app.refresh(first.refresh_token);
    deployment.move(61 * SECOND);
    await assert.rejects(app.refresh(first.refresh_token), NO_GOOD);
    await assert.rejects(app.refresh(second.refresh_token), NO_GOOD);
    deployment.move(5 * SECOND);
    assert.equal(await isGood(second.access_token), false);
    assert.ok(deployment.entries.some(({ event, level }) => event === 'refresh_token_reused' && level === 'warn'));
  });

  it('remain valid if someone uses an invalid refresh token', async () => {
    const first = await app.signIn(ada);
    const forged = `${first.refresh_token.slice(0, -4)}AAAA`;
    await assert.rejects(app.refresh(forged), NO_GOOD);
    assert.ok(await app.refresh(first.refresh_token));
  });

  it('expire after an hour; refresh tokens expire after 90 days without use or after a year', async () => {
    const first = await app.signIn(ada);
    const forgotten = await app.signIn(ada, { agentName: 'Forgotten' });
    deployment.move(HOUR + SECOND);
    const late = await call(deployment, first.access_token, 'access.whoami');
    assert.equal(late.status, 401);
    assert.match(late.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    let { refresh_token } = await app.refresh(first.refresh_token);
    for (const days of [89, 89, 89, 89]) {
      deployment.move(days * DAY);
      ({ refresh_token } = await app.refresh(refresh_token));
    }
    await assert.rejects(app.refresh(forgotten.refresh_token), NO_GOOD);
    deployment.move(10 * DAY);
    await assert.rejects(app.refresh(refresh_token), NO_GOOD);
  });

  it('are issued at most once per code, and are revoked if the code is used twice concurrently', async () => {
    const { parameters } = await newCode();
    const answers = await Promise.all([app.token(parameters), app.token(parameters)]);
    const given = answers.filter(({ status }) => status === 200);
    assert.ok(given.length <= 1, 'the code was redeemed twice');
    assert.equal(answers.filter(({ body }) => body['error'] === 'invalid_grant').length, 2 - given.length);
    deployment.move(5 * SECOND);
    for (const { body } of given) assert.equal(await isGood(String(body['access_token'])), false);
  });

  it('are revoked if their code is used again, even with a wrong verifier', async () => {
    const { started, back, parameters } = await newCode();
    const tokens = await app.redeem(back, started);
    assert.ok(await isGood(tokens.access_token));
    const stolen = { ...parameters, code_verifier: 'x'.repeat(43) };
    const { status, body } = await app.token(stolen);
    assert.deepEqual([status, body['error']], [400, 'invalid_grant']);
    await assert.rejects(app.refresh(tokens.refresh_token), NO_GOOD);
    deployment.move(5 * SECOND);
    assert.equal(await isGood(tokens.access_token), false);
  });

  it('are not issued for an expired code or another verifier, client, redirect or resource', async () => {
    const { parameters } = await newCode();
    const other = await App.registered(deployment, 'Other');
    const wrong: readonly [Record<string, string>, string][] = [
      [{ code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
      [{ client_id: other.client.client_id }, 'invalid_grant'],
      [{ redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
      [{ resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
      [{ code: `${parameters.code}A` }, 'invalid_grant'],
      [{ code_verifier: 'short' }, 'invalid_request'],
    ];
    for (const [change, error] of wrong) {
      const { status, body } = await app.token({ ...parameters, ...change });
      assert.deepEqual([status, body['error']], [400, error], JSON.stringify(change));
    }
    deployment.move(61 * SECOND);
    const { body } = await app.token(parameters);
    assert.equal(body['error'], 'invalid_grant');
  });

  it('are refreshed only by their own client', async () => {
    const { refresh_token } = await app.signIn(ada);
    const other = await App.registered(deployment, 'Other');
    await assert.rejects(other.refresh(refresh_token), NO_GOOD);
    assert.ok(await app.refresh(refresh_token));
  });

  it('are both revoked if their client revokes the access token or the refresh token', async () => {
    const revoke = async (token: string, more: object = {}) => {
      const body = new URLSearchParams({ token, ...more });
      const response = await fetch(app.server.revocation_endpoint ?? '', { method: 'POST', body });
      await response.arrayBuffer();
      return response.status;
    };
    for (const kind of ['access_token', 'refresh_token'] as const) {
      const tokens = await app.signIn(ada, { agentName: kind });
      assert.equal(await revoke(tokens[kind], { client_id: 'client_of_somebody_else' }), 200);
      assert.equal(await revoke(`${tokens[kind]}x`), 200);
      assert.ok(await isGood(tokens.access_token));
      assert.equal(await revoke(tokens[kind], { client_id: app.client.client_id }), 200);
      deployment.move(5 * SECOND);
      assert.equal(await isGood(tokens.access_token), false);
      await assert.rejects(app.refresh(tokens.refresh_token), NO_GOOD);
    }
    assert.equal(await revoke('nonsense'), 200);
  });

  it('are invalid if another deployment with the same database issued them', async () => {
    const { access_token, refresh_token } = await app.signIn(ada);
    const grants = firestore().collection(COLLECTIONS.grants).where('owner_uid', '==', ada.uid);
    const [grant] = (await grants.get()).docs;
    await grant?.ref.update({ resource: 'https://elsewhere.example/mcp' });
    deployment.move(5 * SECOND);
    const { status, headers } = await call(deployment, access_token, 'access.whoami');
    assert.equal(status, 401);
    assert.match(headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    await assert.rejects(app.refresh(refresh_token), { error: 'invalid_target' });
  });

  it('appear in no document and in no log entry, and neither do the codes', async () => {
    const { started, back, code } = await newCode();
    const first = await app.redeem(back, started);
    const second = await app.refresh(first.refresh_token);
    await call(deployment, second.access_token, 'access.whoami');
    await app.token({ grant_type: 'refresh_token', client_id: 'other', refresh_token: second.refresh_token });
    await app.token({ grant_type: 'authorization_code', client_id: 'other', code, code_verifier: started.verifier });
    await call(deployment, `${second.access_token}x`, 'access.whoami');
    deployment.move(61 * SECOND);
    await assert.rejects(app.refresh(first.refresh_token), NO_GOOD);
    const third = await app.signIn(ada, { agentName: 'Later' });
    const tokens = [first, second, third].flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]);
    const secrets = [code, ...tokens].flatMap((token) => token.split('.').slice(1));
    assert.equal(new Set(secrets).size, 7);
    const kept = await documentsOf(Object.values(COLLECTIONS));
    assert.ok(kept.includes(ada.uid) && kept.includes('Pencil'));
    const logged = deployment.entries.map(({ event, fields }) => `${event} ${JSON.stringify(fields)}`).join('\n');
    assert.match(logged, /app_connected/);
    for (const secret of [...secrets, started.verifier]) {
      assert.ok(!kept.includes(secret), 'a document contains a secret');
      assert.ok(!logged.includes(secret), 'the log contains a secret');
    }
    for (const token of tokens) {
      const [start = ''] = token.split('.');
      assert.ok(!logged.includes(start.slice(3)), 'the log contains the id of a grant');
    }
  });
});

/** Returns the text of all documents in these root collections. */
async function documentsOf(collections: readonly string[]): Promise<string> {
  const all = await Promise.all(
    collections.map(async (collection) => (await firestore().collection(collection).get()).docs),
  );
  return JSON.stringify(all.flat().map((document) => [document.ref.path, document.data()]));
}
