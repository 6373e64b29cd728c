import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { initializeApp } from 'firebase-admin/app';
import { getAuth } from 'firebase-admin/auth';
import { CachedCallerTokens, IdentityToolkitSignIn } from '../../../functions/src/access/store/idTokens.ts';
import { FirebaseIdTokenVerifier } from '../../../functions/src/identity/store/accounts.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { setVariable } from '../../support/environment.ts';
import { close, listen, portOf } from '../../support/listening.ts';
import { agentOf } from '../../support/principals.ts';

const HOST = 'FIREBASE_AUTH_EMULATOR_HOST';
const CLAIMS = { role: 'worker', kind: 'agent', agentId: 'one', ownerUid: 'owner', ownerRole: 'admin' };
const signIn = new IdentityToolkitSignIn({ app: firebaseApp, webApiKey: '' });

/** Runs the function with another value of the environment variable for the Auth emulator. */
async function withHost<T>(host: string | undefined, run: () => Promise<T>): Promise<T> {
  const before = process.env[HOST];
  setVariable(HOST, host);
  try {
    return await run();
  } finally {
    setVariable(HOST, before);
  }
}

/** Runs the function with a local server that responds in place of Identity Toolkit. */
async function withAnswers<T>(listener: RequestListener, run: () => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await listen(server);
  try {
    return await withHost(`127.0.0.1:${portOf(server)}`, run);
  } finally {
    await close(server);
  }
}

const refusal =
  (status: number, message: string): RequestListener =>
  (_request, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { code: status, message } }));

const because = (reason: string) => (error: unknown) =>
  error instanceof MusterError && error.code === 'FIREBASE_ERROR' && error.details.reason === reason;

describe('the sign-in of agents to Firebase Auth', () => {
  it("returns an ID token with the agent's uid and claims", async () => {
    const agentId = `agent-${randomUUID()}`;
    const tokens = new CachedCallerTokens({ agents: signIn, clock: { now: () => new Date() } });
    const principal = agentOf(agentId, 'ada', 'leader');
    const { idToken, claims, expiresAt } = await tokens.of({ principal, credential: 'unused' });
    // The Auth emulator issues tokens only for its own project, even to a caller of another project.
    const own = initializeApp({ projectId: String(claims['aud']) }, `of ${agentId}`);
    const verified = await getAuth(own).verifyIdToken(idToken);
    const expected = {
      role: 'leader',
      kind: 'agent',
      agentId,
      ownerUid: 'ada',
      ownerRole: 'admin',
      sub: principal.uid,
    };
    for (const [name, value] of Object.entries(expected)) {
      assert.equal(verified[name], value);
      assert.equal(claims[name], value);
    }
    assert.ok(expiresAt.getTime() > Date.now() + 3_000_000);
    const people = new FirebaseIdTokenVerifier({ app: () => own, clock: { now: () => new Date() } });
    await assert.rejects(people.verify(idToken), { code: 'UNAUTHORIZED' }, "an agent's ID token is not a credential");
  });

  it('returns CONNECTION_ERROR if Identity Toolkit is unreachable or fails', async () => {
    const unreachable = withHost('127.0.0.1:1', () => signIn.signIn('agent:one', CLAIMS));
    await assert.rejects(unreachable, because('CONNECTION_ERROR'));
    for (const listener of [
      refusal(503, 'UNAVAILABLE'),
      ((_request, response) => response.end('<html>')) satisfies RequestListener,
    ]) {
      const failed = withAnswers(listener, () => signIn.signIn('agent:one', CLAIMS));
      await assert.rejects(failed, because('CONNECTION_ERROR'));
    }
  });

  it('returns different errors for a disabled user, an exhausted quota and an invalid API key', async () => {
    const cases = [
      { answer: refusal(400, 'USER_DISABLED'), error: { code: 'UNAUTHORIZED' } },
      { answer: refusal(429, 'RESOURCE_EXHAUSTED'), error: { code: 'QUOTA_EXCEEDED' } },
      { answer: refusal(400, 'API key not valid.'), error: because('NOT_SET_UP') },
    ];
    for (const { answer, error } of cases) {
      const refused = withAnswers(answer, () => signIn.signIn('agent:one', CLAIMS));
      await assert.rejects(refused, error);
    }
  });

  it('returns NOT_SET_UP without a Web API key in production', async () => {
    const app = firebaseApp();
    await assert.rejects(
      withHost(undefined, () =>
        new IdentityToolkitSignIn({ app: () => app, webApiKey: '' }).signIn('agent:one', CLAIMS),
      ),
      because('NOT_SET_UP'),
    );
  });
});
