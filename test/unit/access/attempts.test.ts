/** Failed authentications are limited by address, and nobody's good credential with them. */
import assert from 'node:assert/strict';
import { CredentialAuthenticator } from '../../../functions/src/access/rules/authentication.ts';
import type { Principal } from '../../../functions/src/access/rules/principal.ts';
import type { SignedInPerson } from '../../../functions/src/access/store/accounts.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { portsOf } from '../../support/ports.ts';
import { personOf } from '../../support/principals.ts';
import { refusal, START, secondsAfterStart } from '../samples.ts';

const ADA: Principal = personOf('ada', 'viewer');
const HERE = '203.0.113.7';

describe('failed authentications', () => {
  let now: Date;
  let lookups: number;
  let verify: (token: string) => Promise<SignedInPerson>;
  let authenticator: CredentialAuthenticator;

  beforeEach(() => {
    now = START;
    lookups = 0;
    verify = async (token) => {
      lookups += 1;
      if (token.startsWith('good')) return { uid: 'ada', role: 'viewer' };
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

  it('are refused unseen after a hundred, and then five a second are looked at', async () => {
    await guess(100);
    assert.equal(lookups, 100);
    const error = await refusal(() => authenticator.authenticate('bad', HERE));
    assert.deepEqual([error.code, error.details.retryAfter], ['RATE_LIMITED', 1]);
    assert.match(error.details.suggestion ?? '', /1 second\./);
    assert.equal(lookups, 100, 'it is not looked up');
    now = secondsAfterStart(2);
    assert.equal((await guess(20)).filter((code) => code === 'UNAUTHORIZED').length, 10);
  });

  it('at once are no way around', async () => {
    const codes = await Promise.all(Array.from({ length: 300 }, (_, count) => codeOf(`bad-${count}`)));
    assert.equal(codes.filter((code) => code === 'UNAUTHORIZED').length, 100);
    assert.equal(lookups, 100);
  });

  it('of one address are not held against another', async () => {
    await guess(150);
    assert.deepEqual(await guess(1, '203.0.113.8'), ['UNAUTHORIZED']);
    assert.deepEqual(await authenticator.authenticate('good', '203.0.113.8'), ADA);
  });

  it('leave a credential alone that was good here before, also once it must be checked again', async () => {
    await authenticator.authenticate('good', HERE);
    await guess(150);
    assert.deepEqual(await authenticator.authenticate('good', HERE), ADA);
    now = secondsAfterStart(6);
    await guess(150);
    assert.deepEqual(await authenticator.authenticate('good', HERE), ADA);
  });

  it('count against a credential that was good and was withdrawn', async () => {
    await authenticator.authenticate('good', HERE);
    now = secondsAfterStart(6);
    verify = async () => {
      throw new MusterError('UNAUTHORIZED', 'Withdrawn.');
    };
    assert.equal(await codeOf('good'), 'UNAUTHORIZED');
    await guess(100);
    assert.equal(await codeOf('good'), 'RATE_LIMITED');
  });

  it('are none where the credential is good or cannot be looked up', async () => {
    for (let count = 0; count < 150; count += 1) await authenticator.authenticate(`good-${count}`, HERE);
    verify = () => Promise.reject(new Error('The database is away.'));
    for (let count = 0; count < 150; count += 1) {
      await assert.rejects(authenticator.authenticate('bad', HERE), /away/);
    }
    verify = () => Promise.reject(new MusterError('UNAUTHORIZED', 'No.'));
    assert.equal(await codeOf('bad'), 'UNAUTHORIZED');
  });

  it('take memory for ten thousand addresses at most, the longest unseen leaving first', async () => {
    await guess(100);
    for (let count = 0; count < 10_000; count += 1) await codeOf('bad', `2001:db8:${count}`);
    assert.equal(await codeOf('bad'), 'UNAUTHORIZED', 'its bucket is forgotten');
  });
});
