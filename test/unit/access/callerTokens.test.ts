import assert from 'node:assert/strict';
import {
  type AgentClaims,
  CachedCallerTokens,
  type IdentityToolkitSignIn,
} from '../../../functions/src/access/store/idTokens.ts';
import type { Caller } from '../../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import type { PortOf } from '../../../functions/src/kernel/ports.ts';
import { agentOf, personOf } from '../../support/principals.ts';

const START = Date.parse('2040-01-01T00:00:00Z');
const HOUR = 3600;

function unsigned(claims: Readonly<Record<string, unknown>>): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${encode({ alg: 'none' })}.${encode(claims)}.`;
}

function agent(name: string, role: Role = 'worker'): Caller {
  const principal = agentOf(name, 'owner', role);
  return { principal, credential: 'mk_secret' };
}

/** Fake of Identity Toolkit that counts calls, and fails while `broken` is set. */
class CountingSignIn implements PortOf<IdentityToolkitSignIn> {
  calls = 0;
  broken = false;

  async signIn(uid: string, claims: AgentClaims): Promise<{ idToken: string; expiresIn: number }> {
    this.calls++;
    await Promise.resolve();
    if (this.broken) throw new Error('out of order');
    return { idToken: unsigned({ ...claims, sub: uid, serial: this.calls }), expiresIn: HOUR };
  }
}

function fixture() {
  const signIn = new CountingSignIn();
  const time = { now: START };
  const tokens = new CachedCallerTokens({ agents: signIn, clock: { now: () => new Date(time.now) } });
  return { signIn, tokens, time };
}

describe('Firebase ID tokens for requests on behalf of a caller', () => {
  it('are the ID token with which the person called, unchanged', async () => {
    const { signIn, tokens } = fixture();
    const idToken = unsigned({ sub: 'ada', role: 'leader', exp: START / 1000 });
    const principal = personOf('ada', 'leader');
    const token = await tokens.of({ principal, credential: idToken });
    assert.deepEqual(token, {
      idToken,
      claims: { sub: 'ada', role: 'leader', exp: START / 1000 },
      expiresAt: new Date(START),
    });
    assert.equal(signIn.calls, 0);
  });

  it('are not created from an invalid credential, and the error does not contain the credential', async () => {
    const { tokens } = fixture();
    const principal = personOf('ada', 'leader');
    for (const credential of ['', 'secret', 'a.secret.c', `a.${Buffer.from('[1]').toString('base64url')}.c`]) {
      const refused = tokens.of({ principal, credential });
      await assert.rejects(refused, (error: Error & { code?: string }) => {
        assert.equal(error.code, 'UNAUTHORIZED');
        assert.equal(error.cause, undefined);
        return true;
      });
    }
  });

  it('are created once for concurrent calls of an agent, and contain the claims of the agent', async () => {
    const { signIn, tokens } = fixture();
    const [first, second] = await Promise.all([tokens.of(agent('one')), tokens.of(agent('one'))]);
    assert.equal(first, second);
    assert.equal(await tokens.of(agent('one')), first);
    assert.equal(signIn.calls, 1);
    const { claims, expiresAt } = first;
    assert.deepEqual(claims, {
      sub: 'agent:one',
      role: 'worker',
      kind: 'agent',
      agentId: 'one',
      ownerUid: 'owner',
      ownerRole: 'admin',
      serial: 1,
    });
    assert.deepEqual(expiresAt, new Date(START + HOUR * 1000));
  });

  it("contain the read-only mode and the workspace of the agent's credential", async () => {
    const { tokens } = fixture();
    const { principal, credential } = agent('one', 'leader');
    const narrow = { ...principal, readonly: true, held_to: 'alpha' } as const;
    const { claims } = await tokens.of({ principal: narrow, credential });
    assert.deepEqual([claims['role'], claims['heldTo']], ['viewer', 'alpha']);
  });

  it('are created separately for each agent and each role', async () => {
    const { signIn, tokens } = fixture();
    await tokens.of(agent('one'));
    await tokens.of(agent('two'));
    const { claims } = await tokens.of(agent('one', 'leader'));
    assert.equal(claims['role'], 'leader');
    assert.equal(signIn.calls, 3);
  });

  it('are replaced by new tokens five minutes before they expire, once for concurrent calls', async () => {
    const { signIn, tokens, time } = fixture();
    await tokens.of(agent('one'));
    time.now += (HOUR - 301) * 1000;
    await tokens.of(agent('one'));
    assert.equal(signIn.calls, 1);
    time.now += 1000;
    const all = await Promise.all([tokens.of(agent('one')), tokens.of(agent('one'))]);
    assert.equal(all[0], all[1]);
    assert.equal(signIn.calls, 2);
  });

  it('are requested again after a failed request', async () => {
    const { signIn, tokens } = fixture();
    signIn.broken = true;
    await Promise.all([
      assert.rejects(tokens.of(agent('one')), /out of order/),
      assert.rejects(tokens.of(agent('one')), /out of order/),
    ]);
    assert.equal(signIn.calls, 1);
    signIn.broken = false;
    await tokens.of(agent('one'));
    assert.equal(signIn.calls, 2);
  });

  it('are cached only for a limited number of agents', async () => {
    const { signIn, tokens } = fixture();
    for (let number = 0; number <= 1000; number++) await tokens.of(agent(`agent-${number}`));
    await tokens.of(agent('agent-1000'));
    assert.equal(signIn.calls, 1001);
    await tokens.of(agent('agent-0'));
    assert.equal(signIn.calls, 1002);
  });
});
