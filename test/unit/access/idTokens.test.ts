/** Verification of ID tokens with Firebase's SDK against a local fake of Google's signing keys and accounts. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { Agent, createServer, type Server } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { type App, deleteApp, initializeApp } from 'firebase-admin/app';
import { FirebaseIdTokenVerifier } from '../../../functions/src/identity/store/accounts.ts';
import { selfSigned } from '../../support/certificate.ts';
import { close, listen, portOf } from '../../support/listening.ts';

const PROJECT = 'the-project';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Account in the format of the Identity Toolkit API. */
interface Account {
  disabled?: boolean;
  /** Custom claims, serialized as JSON. */
  customAttributes?: string;
  /** Seconds since the Unix epoch. Earlier sign-ins are invalid. */
  validSince?: string;
}

const SIGNED_IN = Math.floor(Date.now() / 1000) - 60;

/** Returns an ID token of a person who signed in one minute ago. */
function idTokenOf(uid: string): string {
  const [auth_time, iat, exp] = [SIGNED_IN, SIGNED_IN, SIGNED_IN + 3600];
  const issuer = `https://securetoken.google.com/${PROJECT}`;
  const claims = { iss: issuer, aud: PROJECT, sub: uid, auth_time, iat, exp, role: 'worker' };
  const encoded = [{ alg: 'RS256', kid: 'one', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = sign('sha256', Buffer.from(encoded.join('.')), privateKey).toString('base64url');
  return [...encoded, signature].join('.');
}

describe('ID tokens of people', () => {
  const accounts = new Map<string, Account>();
  let asked: number;
  let isAway: boolean;
  let now: number;
  let google: Server;
  let app: App;
  let verifier: FirebaseIdTokenVerifier;

  before(async () => {
    google = createServer(selfSigned('localhost'), async (request, response) => {
      const body = await text(request);
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        response.setHeader('cache-control', 'max-age=3600');
        response.end(JSON.stringify({ one: publicKey.export({ type: 'spki', format: 'pem' }) }));
        return;
      }
      asked++;
      const { localId } = JSON.parse(body) as { localId: string[] };
      const users = localId.flatMap((uid) => {
        const account = accounts.get(uid);
        return account ? [{ localId: uid, ...account }] : [];
      });
      response.statusCode = isAway ? 400 : 200;
      response.end(JSON.stringify(isAway ? { error: { message: 'OUT_OF_ORDER' } } : { users }));
    });
    await listen(google);
    const port = portOf(google);
    const agent = new Agent();
    agent.createConnection = () => connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    app = initializeApp(
      {
        projectId: PROJECT,
        httpAgent: agent,
        credential: { getAccessToken: async () => ({ access_token: 'token', expires_in: 3600 }) },
      },
      'people',
    );
  });

  after(async () => {
    await deleteApp(app);
    await close(google);
  });

  beforeEach(() => {
    [asked, isAway, now] = [0, false, Date.now()];
    accounts.clear();
    accounts.set('ada', {});
    verifier = new FirebaseIdTokenVerifier({ app: () => app, clock: { now: () => new Date(now) } });
  });

  it('identify a person, and cause at most one read of the account per interval', async () => {
    const token = idTokenOf('ada');
    const principals = await Promise.all([verifier.verify(token), verifier.verify(idTokenOf('ada'))]);
    for (const { signedInAt, ...person } of principals) {
      assert.deepEqual(person, { uid: 'ada', role: 'worker' });
      assert.equal(signedInAt, SIGNED_IN);
    }
    now += 45_000;
    await verifier.verify(token);
    assert.equal(asked, 1);
  });

  it("are rejected within a minute after the person's account is disabled, deleted or signed out", async () => {
    const [soon, late] = [String(Math.floor(Date.now() / 1000)), String(Math.floor(Date.now() / 1000) - 3600)];
    const token = idTokenOf('ada');
    accounts.set('ada', { validSince: late });
    await verifier.verify(token);
    for (const account of [{ disabled: true }, { validSince: soon }, undefined]) {
      if (account === undefined) accounts.delete('ada');
      else accounts.set('ada', account);
      now += 54_000; // The authenticator may cache the result for 5 more seconds.
      await assert.rejects(verifier.verify(token), { code: 'UNAUTHORIZED' });
      accounts.set('ada', {});
      now += 54_000;
      await verifier.verify(token);
    }
  });

  it("contain the role of the person's account, unless that account is disabled", async () => {
    assert.equal(await verifier.roleOf('ada'), undefined);
    accounts.set('ben', { customAttributes: JSON.stringify({ role: 'leader' }) });
    accounts.set('cyd', { customAttributes: JSON.stringify({ role: 'leader' }), disabled: true });
    accounts.set('dan', { customAttributes: JSON.stringify({ role: 'superadmin' }) });
    const roles = await Promise.all(['ben', 'cyd', 'dan', 'nobody'].map((uid) => verifier.roleOf(uid)));
    assert.deepEqual(roles, ['leader', undefined, undefined, undefined]);
  });

  it('are rejected if the account cannot be read, and this failure is not cached', async () => {
    isAway = true;
    await assert.rejects(verifier.verify(idTokenOf('ada')), { code: 'FIREBASE_ERROR' });
    isAway = false;
    await verifier.verify(idTokenOf('ada'));
    assert.equal(asked, 2);
  });
});
