/** Selection of the real services that `npm run test:real` calls. */
import assert from 'node:assert/strict';
import { nothingAsked, REAL_SERVICES, standingOf } from '../../real/services.ts';

const REPOSITORY = { MUSTER_REAL_REPOSITORY: 'me/scratch' };

describe('real services in a test run', () => {
  it('are not called by default, and one line explains why', () => {
    assert.match(nothingAsked({}) ?? '', /^test:real calls no service\. Set MUSTER_REAL to all, or to some of .*$/);
    const keys = { ANTHROPIC_API_KEY: 'k', GITHUB_TOKEN: 't', ...REPOSITORY };
    for (const service of REAL_SERVICES) assert.deepEqual(standingOf(service, keys), { what: 'out' });
    assert.equal(nothingAsked({ MUSTER_REAL: 'gemini' }), undefined);
  });

  it('are called if they are named and their credentials are set', () => {
    const all = { MUSTER_REAL: 'all', MUSTER_URL: 'https://x', MUSTER_TOKEN: 't', GEMINI_API_KEY: 'k' };
    assert.deepEqual(standingOf('firebase', all), { what: 'ask' });
    assert.deepEqual(standingOf('gemini', all), { what: 'ask' });
    const app = { GITHUB_APP_ID: '1', GITHUB_APP_PRIVATE_KEY: 'pem' };
    for (const credential of [app, { GITHUB_TOKEN: 't' }]) {
      const named = { MUSTER_REAL: 'gemini github', ...REPOSITORY, ...credential };
      assert.deepEqual(standingOf('github', named), { what: 'ask' });
    }
  });

  it('are skipped without credentials, but cause a failure if they are named', () => {
    const why = 'Cannot test anthropic: set ANTHROPIC_API_KEY.';
    assert.deepEqual(standingOf('anthropic', { MUSTER_REAL: 'anthropic,gemini' }), { what: 'fail', why });
    const none = { MUSTER_REAL: 'all', ANTHROPIC_API_KEY: 'none' };
    assert.deepEqual(standingOf('anthropic', none), { what: 'out', why });
    assert.equal(
      standingOf('github', { MUSTER_REAL: 'all', ...REPOSITORY }).why,
      'Cannot test github: set GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY.',
    );
  });

  it('cause an error if an unknown service is named', () =>
    assert.throws(() => standingOf('github', { MUSTER_REAL: 'git' }), /service "git" in MUSTER_REAL\. Known: all, /));
});
