/** Authorization codes, access tokens and refresh tokens of connected apps. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  accessTokenStatus,
  type Grant,
  grantFromDocument,
  grantToDocument,
  isConnected,
  isTokenOf,
  parseToken,
  type Refresh,
  redemptionOf,
  refreshOf,
  type Tokens,
  tokenOf,
} from '../../../functions/src/identity/rules/grant.ts';
import { EVERY_SCOPE } from '../../../functions/src/identity/rules/principal.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { CODE, SALT, START, sampleGrant, secondsAfterStart, VERIFIER } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';
import { FIRST, redeemed, secretOf } from './grantSamples.ts';

const GRACE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;

/** Maximum number of recent token rotations that a grant records. */
const MAX_AT_ONCE = 20;

function redeem(grant: Grant, asked: { secret?: string; verifier?: string } = {}, now = START) {
  return redemptionOf(systemHashing, grant, { secret: CODE, verifier: VERIFIER, fresh: FIRST, ...asked }, now);
}

function refresh(grant: Grant, token: string, now: Date): Refresh {
  return refreshOf(systemHashing, grant, secretOf('refresh', token), now);
}

function rotated(grant: Grant, token: string, now: Date): { grant: Grant; tokens: Tokens } {
  const outcome = refresh(grant, token, now);
  assert.equal(outcome.outcome, 'rotated');
  return outcome;
}

/** Refreshes the tokens once per second, each time with the newest refresh token. */
function chain(length: number) {
  let { grant, tokens } = redeemed();
  const all = [tokens];
  for (let second = 1; second <= length; second++) {
    ({ grant, tokens } = rotated(grant, tokens.refreshToken, secondsAfterStart(second)));
    all.push(tokens);
  }
  return { grant, all };
}

const access = (grant: Grant, tokens: Tokens, now: Date) =>
  accessTokenStatus(systemHashing, grant, secretOf('access', tokens.accessToken), now);

describe('token of a connected app', () => {
  it('contains the kind of the token and the id of its grant', () => {
    const { grant, tokens } = redeemed();
    assert.match(tokens.accessToken, /^ma_[a-z2-7]{20}\.[\w-]{43}$/);
    assert.match(tokens.refreshToken, /^mr_[a-z2-7]{20}\.[\w-]{20,}$/);
    assert.equal(parseToken('access', tokens.accessToken)?.grantId, grant.id);
    assert.equal(parseToken('refresh', tokens.accessToken), undefined);
    assert.equal(parseToken('code', tokens.refreshToken), undefined);
    assert.deepEqual(parseToken('code', tokenOf('code', { grantId: grant.id, secret: CODE })), {
      grantId: grant.id,
      secret: CODE,
    });
  });

  it('is rejected as an access token if its format is wrong', () => {
    const { grant, tokens } = redeemed();
    for (const wrong of [
      '',
      tokens.accessToken.slice(1),
      `${tokens.accessToken}\n`,
      `${tokens.accessToken}.more`,
      `ma_${grant.id}`,
      `ma_${grant.id}.short`,
      `ma_${grant.id.toUpperCase()}.${SALT}`,
      `mk_${grant.id}.${SALT}`,
    ])
      assert.equal(parseToken('access', wrong), undefined, wrong);
  });

  it('has the scopes muster:read and muster:write', () => assert.equal(EVERY_SCOPE, 'muster:read muster:write'));
});

describe('authorization code', () => {
  it('can be redeemed once, and a second use is treated as theft', () => {
    assert.equal(isConnected(sampleGrant(), START), false);
    const { grant, tokens } = redeemed();
    assert.equal(isConnected(grant, START), true);
    assert.equal(tokens.expiresIn, HOUR);
    assert.equal(access(grant, tokens, START), 'good');
    assert.equal(redeem(grant).outcome, 'replayed');
    assert.equal(redeem(grant, { verifier: 'of-somebody-else' }).outcome, 'replayed');
    assert.equal(redeem(grant, {}, secondsAfterStart(DAY)).outcome, 'replayed');
    const later = rotated(grant, tokens.refreshToken, secondsAfterStart(1)).grant;
    assert.equal(redeem(later).outcome, 'replayed');
  });

  it('expires after 60 seconds', () => {
    assert.equal(redeem(sampleGrant(), {}, secondsAfterStart(59.999)).outcome, 'redeemed');
    assert.equal(redeem(sampleGrant(), {}, secondsAfterStart(60)).outcome, 'refused');
  });

  it('requires its own secret and the code verifier that matches its code challenge', () => {
    assert.equal(redeem(sampleGrant(), { secret: `${CODE}x` }).outcome, 'refused');
    assert.equal(redeem(sampleGrant(), { secret: '' }).outcome, 'refused');
    assert.equal(redeem(sampleGrant(), { verifier: '' }).outcome, 'refused');
    assert.equal(redeem(sampleGrant(), { verifier: VERIFIER.toLowerCase() }).outcome, 'refused');
    const { challenge } = sampleGrant().code;
    assert.equal(redeem(sampleGrant(), { verifier: challenge }).outcome, 'refused', 'no plain method');
    // Both values are from RFC 7636, appendix B.
    assert.equal(challenge, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  });

  it('can still be redeemed after an attempt with a wrong secret', () => {
    const { grant } = redeemed();
    assert.equal(redeem(grant, { secret: 'x'.repeat(43) }).outcome, 'refused');
    assert.equal(isTokenOf(systemHashing, grant, 'code', CODE), true);
    assert.equal(isTokenOf(systemHashing, grant, 'code', FIRST), false);
  });
});

describe('access token', () => {
  it('expires an hour after it was issued', () => {
    const { grant, tokens } = redeemed();
    assert.equal(access(grant, tokens, secondsAfterStart(HOUR - 0.001)), 'good');
    assert.equal(access(grant, tokens, secondsAfterStart(HOUR)), 'expired');
  });

  it('stays valid when the next token is issued, and is deleted some time after it expires', () => {
    const first = redeemed();
    const second = rotated(first.grant, first.tokens.refreshToken, secondsAfterStart(HOUR - 1));
    assert.equal(access(second.grant, first.tokens, secondsAfterStart(HOUR - 0.5)), 'good');
    assert.equal(access(second.grant, second.tokens, secondsAfterStart(HOUR)), 'good');
    assert.equal(access(second.grant, first.tokens, secondsAfterStart(HOUR)), 'expired');
    const third = rotated(second.grant, second.tokens.refreshToken, secondsAfterStart(HOUR));
    assert.equal(access(third.grant, first.tokens, secondsAfterStart(HOUR)), 'unknown');
    assert.equal(isTokenOf(systemHashing, third.grant, 'access', secretOf('access', second.tokens.accessToken)), true);
  });

  it('differs from every other secret of the same grant', () => {
    const { grant, tokens } = redeemed();
    for (const secret of [CODE, FIRST, SALT, secretOf('refresh', tokens.refreshToken), ''])
      assert.equal(accessTokenStatus(systemHashing, grant, secret, START), 'unknown');
  });

  it('expires at the latest when its grant expires', () => {
    const { grant, tokens } = redeemed({ ends_at: secondsAfterStart(100) });
    assert.equal(tokens.expiresIn, 100);
    assert.equal(access(grant, tokens, secondsAfterStart(99)), 'good');
    assert.equal(access(grant, tokens, secondsAfterStart(100)), 'expired');
  });
});

describe('refresh token', () => {
  it('is exchanged for another refresh token and another access token', () => {
    const first = redeemed();
    const second = rotated(first.grant, first.tokens.refreshToken, secondsAfterStart(10));
    assert.notEqual(second.tokens.refreshToken, first.tokens.refreshToken);
    assert.notEqual(second.tokens.accessToken, first.tokens.accessToken);
    assert.equal(second.tokens.expiresIn, HOUR);
    assert.deepEqual(second.grant.used_at, secondsAfterStart(10));
    for (const token of [first, second])
      assert.equal(
        isTokenOf(systemHashing, second.grant, 'refresh', secretOf('refresh', token.tokens.refreshToken)),
        true,
      );
  });

  it('returns the same new tokens for 60 seconds, including to concurrent requests', () => {
    const { grant, tokens } = redeemed();
    const at = secondsAfterStart(10);
    // Concurrent requests: all of them read the grant before any of them stores it.
    const [one, ...others] = Array.from({ length: 5 }, () => rotated(grant, tokens.refreshToken, at));
    for (const other of others) assert.deepEqual(other, one);
    // Later requests: each of them reads the grant after the first request has stored it.
    for (const [seconds, left] of [
      [0, HOUR],
      [0.5, HOUR - 1],
      [GRACE - 0.001, HOUR - GRACE],
    ] as const) {
      const again = refresh(one?.grant ?? grant, tokens.refreshToken, secondsAfterStart(10 + seconds));
      assert.deepEqual(again, { outcome: 'repeated', tokens: { ...one?.tokens, expiresIn: left } });
    }
  });

  it('counts as reused if it is sent again after more than 60 seconds', () => {
    const first = redeemed();
    const { grant } = rotated(first.grant, first.tokens.refreshToken, secondsAfterStart(10));
    for (const seconds of [GRACE, GRACE + 1, DAY])
      assert.deepEqual(refresh(grant, first.tokens.refreshToken, secondsAfterStart(10 + seconds)), {
        outcome: 'reused',
      });
  });

  for (const length of [1, 2, 7, MAX_AT_ONCE])
    it(`may be sent again within 60 seconds and within ${length} rotations, then counts as reused`, () => {
      const { grant, all } = chain(length);
      for (const [index, { refreshToken }] of all.slice(0, -1).entries()) {
        // Rotation `index + 1` used this token, `index + 1` seconds after the start.
        const until = index + 1 + GRACE;
        const outcome = refresh(grant, refreshToken, secondsAfterStart(until - 0.001));
        assert.equal(outcome.outcome, 'repeated', `${index}`);
        assert.ok('tokens' in outcome);
        const { accessToken, refreshToken: successor } = outcome.tokens;
        assert.equal(successor, all.at(-1)?.refreshToken, 'the newest tokens');
        assert.equal(accessToken, all.at(-1)?.accessToken);
        assert.equal(refresh(grant, refreshToken, secondsAfterStart(until)).outcome, 'reused', `${index}`);
      }
    });

  it('may not be sent again after twenty rotations', () => {
    const { grant, all } = chain(MAX_AT_ONCE + 1);
    const [oldest, next] = all.map(({ refreshToken }) => refreshToken);
    assert.equal(refresh(grant, oldest ?? '', secondsAfterStart(30)).outcome, 'refused', 'no theft');
    assert.equal(refresh(grant, oldest ?? '', secondsAfterStart(GRACE + 30)).outcome, 'reused');
    assert.equal(refresh(grant, next ?? '', secondsAfterStart(30)).outcome, 'repeated');
  });

  it('is rejected if it is forged, but a forged token never counts as reused', () => {
    const { grant, all } = chain(5);
    const stranger = redeemed({ salt: 'Xz3yqT1c0ZKQv5bqk1pA8Yl2m9o4h7uXeWnRsDgBfCE' });
    const foreign = rotated(stranger.grant, stranger.tokens.refreshToken, START).tokens.refreshToken;
    const known = new Set(all.map(({ refreshToken }) => secretOf('refresh', refreshToken)));
    const secrets = fc.oneof(
      fc.stringMatching(/^[\w-]{43}$/),
      fc.constantFrom(
        '',
        SALT,
        CODE,
        secretOf('refresh', foreign),
        ...all.map(({ accessToken }) => secretOf('access', accessToken)),
        ...[...known].map((secret) => `${secret.slice(0, -1)}_`),
      ),
    );
    forAll(secrets, fc.nat(200 * DAY), (secret, seconds) => {
      fc.pre(!known.has(secret));
      const outcome = refreshOf(systemHashing, grant, secret, secondsAfterStart(seconds));
      assert.deepEqual(outcome, { outcome: 'refused' });
      assert.equal(isTokenOf(systemHashing, grant, 'refresh', secret), false);
    });
  });

  it('is rejected until the authorization code is redeemed', () => {
    for (const secret of [FIRST, CODE, ''])
      assert.deepEqual(refreshOf(systemHashing, sampleGrant(), secret, START), { outcome: 'refused' });
  });

  it('expires 90 days after its last use, and at the latest a year after the sign-in', () => {
    let { grant, tokens } = redeemed();
    assert.deepEqual(grant.expires_at, secondsAfterStart(90 * DAY));
    assert.equal(refresh(grant, tokens.refreshToken, secondsAfterStart(90 * DAY)).outcome, 'refused');
    for (const day of [89, 178, 267, 356]) {
      ({ grant, tokens } = rotated(grant, tokens.refreshToken, secondsAfterStart(day * DAY)));
      assert.deepEqual(grant.expires_at, secondsAfterStart(Math.min(day + 90, 365) * DAY));
    }
    const last = rotated(grant, tokens.refreshToken, secondsAfterStart(365 * DAY - 60));
    assert.equal(last.tokens.expiresIn, 60, 'no token outlives the grant');
    assert.equal(refresh(last.grant, last.tokens.refreshToken, secondsAfterStart(365 * DAY)).outcome, 'refused');
    assert.equal(access(last.grant, last.tokens, secondsAfterStart(365 * DAY)), 'expired');
  });

  it('is rejected if the grant has been refreshed too often in a short time', () => {
    const { grant, tokens } = redeemed();
    const worn = { ...grant, rotated: 20_000 };
    assert.deepEqual(refresh(worn, tokens.refreshToken, START), { outcome: 'refused' });
  });
});

/** Returns the expected outcome for a token that was replaced `age` rotations ago. */
function used(age: number, usedAt: readonly number[], now: Date): Refresh['outcome'] {
  const isRecent = (at = 0): boolean => now.getTime() - at < GRACE * 1000;
  const last = usedAt.slice(-MAX_AT_ONCE);
  if (age <= MAX_AT_ONCE) return isRecent(usedAt.at(-age)) ? 'repeated' : 'reused';
  return last.length === MAX_AT_ONCE && last.every(isRecent) ? 'refused' : 'reused';
}

describe('grant after any sequence of token refreshes', () => {
  const step = fc.record({
    /** Seconds after the previous step. */
    seconds: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(2 * GRACE), fc.nat(2 * HOUR), fc.nat(100 * DAY)),
    /** Number of rotations that have replaced the token of this step. */
    back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(25) }),
  });

  it('returns the newest tokens for each token of the last minute, and stores no token as text', () =>
    forAll(fc.array(step, { maxLength: 60 }), (steps) => {
      let { grant, tokens } = redeemed();
      let now = START;
      const all = [tokens];
      const usedAt: number[] = [];
      for (const { seconds, back } of steps) {
        now = new Date(now.getTime() + seconds * 1000);
        const index = Math.max(0, all.length - 1 - back);
        const outcome = refresh(grant, all[index]?.refreshToken ?? '', now);
        assert.equal(outcome.outcome, expected(index), `token ${index} of ${all.length}`);
        if (outcome.outcome === 'rotated') {
          usedAt.push(now.getTime());
          ({ grant, tokens } = outcome);
          all.push(tokens);
          assert.equal(access(grant, tokens, now), 'good');
        }
        if (outcome.outcome === 'repeated') {
          const given = all.at(-1);
          assert.equal(outcome.tokens.refreshToken, given?.refreshToken);
          assert.equal(outcome.tokens.accessToken, given?.accessToken);
          assert.ok(outcome.tokens.expiresIn > 0);
          assert.equal(access(grant, outcome.tokens, now), 'good');
        }
        requireNoSecretIn(grant, all);
      }

      function expected(index: number): Refresh['outcome'] {
        if (grant.expires_at <= now) return 'refused';
        const age = all.length - 1 - index;
        if (age === 0) return 'rotated';
        return used(age, usedAt, now);
      }
    }));

  it('is consistent after several processes use its tokens and store their results in any order', () => {
    const { grant: first, tokens } = redeemed();
    const a = rotated(first, tokens.refreshToken, START);
    const c = rotated(a.grant, a.tokens.refreshToken, secondsAfterStart(15));
    // This process has read the grant before the others refreshed it, and overwrites their result.
    const b = refresh(c.grant, tokens.refreshToken, secondsAfterStart(30));
    assert.ok('tokens' in b);
    assert.equal(refresh(c.grant, b.tokens.refreshToken, secondsAfterStart(HOUR)).outcome, 'rotated');
  });

  it('is stored without secrets, and is unchanged when it is read again', () => {
    requireNoSecretIn(sampleGrant(), []);
    const { grant, tokens } = redeemed({ toolsets: ['todo'], held_to: 'alpha', readonly: true });
    requireNoSecretIn(grant, [tokens]);
    assert.deepEqual(Object.keys(grantToDocument(grant)), Object.keys(grantToDocument(sampleGrant())));
    assert.throws(() => grantFromDocument({}));
  });

  function requireNoSecretIn(grant: Grant, given: readonly Tokens[]): void {
    const stored = JSON.stringify(grantToDocument(grant));
    const secrets = given.flatMap(({ accessToken, refreshToken }) => [
      secretOf('access', accessToken),
      secretOf('refresh', refreshToken),
    ]);
    for (const secret of [CODE, FIRST, VERIFIER, ...secrets])
      assert.ok(!stored.includes(secret), `a secret is stored: ${secret}`);
  }
});
