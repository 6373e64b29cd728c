import assert from 'node:assert/strict';
import { CredentialAuthenticator } from '../../../functions/src/access/rules/authentication.ts';
import type { SignedInPerson } from '../../../functions/src/identity/rules/ports.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { START, secondsAfterStart } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { personOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';

const ADA: Principal = personOf('ada', 'viewer');
const HERE = '203.0.113.7';

describe('limit on failed sign-in attempts', () => {
  let now: Date;
  let lookups: number;
  let verify: (token: string) => Promise<SignedInPerson>;
  let authenticator: CredentialAuthenticator;

  beforeEach(() => {
    now = START;
    lookups = 0;
    verify = async (token) => {
      lookups += 1;
      if (token.startsWith('good')) return { uid: 'ada', signedInAt: 0, role: 'viewer' };
      throw new MusterError('UNAUTHORIZED', 'No.');
    };
    authenticator = new CredentialAuthenticator(
      portsOf<ConstructorParameters<typeof CredentialAuthenticator>[0]>({
        agents: { findWithAgent: async () => undefined },
        idTokens: { verify: (token) => verify(token) },
        roles: { of: async () => ADA.owner },
        hashing: systemHashing,
        clock: { now: () => now },
      }),
    );
  });

  const codeOf = async (bearer: string, address = HERE) =>
    (await refusal(() => authenticator.authenticate(bearer, address))).code;

  async function guess(times: number, address = HERE): Promise<string[]> {
    const codes: string[] = [];
    for (let count = 0; count < times; count += 1) codes.push(await codeOf(`bad-${count}`, address));
    return codes;
  }

  it('allows a hundred failures per network address, and then five per second', async () => {
    await guess(100);
    assert.equal(lookups, 100);
    const error = await refusal(() => authenticator.authenticate('bad', HERE));
    assert.deepEqual([error.code, error.details.retryAfter], ['RATE_LIMITED', 1]);
    assert.match(error.details.suggestion ?? '', /1 second\./);
    now = secondsAfterStart(2);
    assert.equal((await guess(20)).filter((code) => code === 'UNAUTHORIZED').length, 10);
  });

  it('allows four lookups at a time when it is exceeded, but only one per value in 5 seconds', async () => {
    await guess(100);
    let running = 0;
    let limit = 0;
    lookups = 0;
    verify = async () => {
      lookups += 1;
      running += 1;
      limit = Math.max(limit, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      throw new MusterError('UNAUTHORIZED', 'No.');
    };
    await Promise.all(Array.from({ length: 80 }, (_, count) => codeOf(`new-${count}`)));
    assert.deepEqual([lookups, limit], [80, 4]);
    assert.deepEqual(await Promise.all([codeOf('new-1'), codeOf('new-2')]), ['RATE_LIMITED', 'RATE_LIMITED']);
    assert.equal(lookups, 80, 'a rejected credential is not looked up again');
  });

  it('applies to attempts that are made concurrently', async () => {
    const codes = await Promise.all(Array.from({ length: 300 }, (_, count) => codeOf(`bad-${count}`)));
    assert.equal(codes.filter((code) => code === 'UNAUTHORIZED').length, 100);
    assert.equal(codes.filter((code) => code === 'RATE_LIMITED').length, 200);
  });

  it('accepts a valid credential from an address with many failures, even a new credential', async () => {
    await guess(150);
    const noise = Promise.all(Array.from({ length: 80 }, (_, count) => codeOf(`noise-${count}`)));
    assert.deepEqual(await authenticator.authenticate('good', HERE), ADA);
    await noise;
    assert.equal(await codeOf('bad'), 'RATE_LIMITED', 'a valid credential returns no attempts');
  });

  it('accepts a valid credential from a new address after failures from many other addresses', async () => {
    for (let count = 0; count < 3000; count += 1) await codeOf('bad', `2001:db8:${count}`);
    assert.deepEqual(await authenticator.authenticate('good', '198.51.100.7'), ADA);
  });

  it('reports that a token has expired, even to an address with many failures', async () => {
    await guess(150);
    verify = () => Promise.reject(new MusterError('TOKEN_EXPIRED', 'It has expired.'));
    assert.equal(await codeOf('once-good'), 'TOKEN_EXPIRED');
  });

  it('is counted separately for each network address', async () => {
    await guess(150);
    assert.deepEqual(await guess(1, '203.0.113.8'), ['UNAUTHORIZED']);
    assert.deepEqual(await authenticator.authenticate('good', '203.0.113.8'), ADA);
  });

  it('exempts a credential that was valid before, even after it was evicted from the cache', async () => {
    await authenticator.authenticate('good', HERE);
    await guess(150);
    assert.deepEqual(await authenticator.authenticate('good', HERE), ADA);
    now = secondsAfterStart(6);
    await guess(150);
    assert.deepEqual(await authenticator.authenticate('good', HERE), ADA);
  });

  it('applies to a credential that was valid before but has been revoked', async () => {
    await authenticator.authenticate('good', HERE);
    now = secondsAfterStart(6);
    verify = async () => {
      throw new MusterError('UNAUTHORIZED', 'Withdrawn.');
    };
    assert.equal(await codeOf('good'), 'UNAUTHORIZED');
    await guess(100);
    assert.equal(await codeOf('good'), 'RATE_LIMITED');
  });

  it('counts neither valid credentials nor lookups that the database did not answer', async () => {
    for (let count = 0; count < 150; count += 1) await authenticator.authenticate(`good-${count}`, HERE);
    verify = () => Promise.reject(new Error('The database is away.'));
    for (let count = 0; count < 150; count += 1) await assert.rejects(authenticator.authenticate('bad', HERE), /away/);
    verify = () => Promise.reject(new MusterError('UNAUTHORIZED', 'No.'));
    assert.equal(await codeOf('bad'), 'UNAUTHORIZED');
  });

  it('is also shared by all addresses that are new to the instance, but not by known addresses', async () => {
    await guess(1, '203.0.113.8');
    await guess(100);
    const codes = new Map<string, number>();
    for (let count = 0; count < 10_000; count += 1) {
      const code = await codeOf('bad', `2001:db8:${count}`);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    assert.ok((codes.get('UNAUTHORIZED') ?? 0) <= 2000, JSON.stringify([...codes]));
    assert.equal(await codeOf('bad'), 'RATE_LIMITED', 'new addresses evict no used bucket');
    assert.equal(await codeOf('bad', '203.0.113.8'), 'UNAUTHORIZED');
    now = secondsAfterStart(1);
    assert.equal(await codeOf('bad', '2001:db9::'), 'UNAUTHORIZED', 'new addresses have attempts again');
  });
});
