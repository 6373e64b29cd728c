import assert from 'node:assert/strict';
import { LEASE_EXPIRY_MS } from '../../../functions/src/limits/rules/rateLimiter.ts';
import { personOf } from '../../support/principals.ts';
import { ANN, BOB, LimiterFixture, settle } from './fixture.ts';

/** With this limit, an instance leases 1 to 10 tokens at a time. */
const LIMIT = { perSecond: 10, burst: 50 };

describe('rate limiter', () => {
  it('allows the first call of a caller immediately, and charges the ledger afterwards', async () => {
    const fixture = new LimiterFixture(LIMIT);
    fixture.isPrompt = false;
    assert.equal(await fixture.callTimes(1), 1);
    assert.equal(fixture.asked.length, 1);
    fixture.answer();
    await settle();
    assert.equal(fixture.bucket?.tokens, 49);
  });

  it('spends the tokens of a lease without asking the ledger', async () => {
    const fixture = new LimiterFixture({ perSecond: 1000, burst: 5000 });
    await fixture.callTimes(30);
    const { leases } = fixture;
    fixture.isPrompt = false;
    assert.equal(await fixture.callTimes(20), 20);
    assert.ok(fixture.leases - leases <= 1, 'one lease, in the background');
  });

  it('leases more tokens if a caller calls often, and fewer if the calls become rare', async () => {
    const fixture = new LimiterFixture({ perSecond: 1000, burst: 5000 });
    await fixture.callTimes(2000);
    const { leases } = fixture;
    assert.ok(leases < 20, `${leases} leases for 2000 calls at once`);
    await fixture.callTimes(1000);
    assert.ok(fixture.leases - leases <= 5, 'chunks of hundreds');
  });

  it('rejects calls beyond the burst size, and reports the delay before a retry', async () => {
    const fixture = new LimiterFixture(LIMIT);
    const passed = await fixture.callTimes(100);
    assert.ok(passed >= 50 && passed <= 51, `${passed} passed`);
    const [refusal] = fixture.refusals;
    assert.equal(refusal?.code, 'RATE_LIMITED');
    assert.deepEqual(refusal?.details, { reason: 'RATE_LIMITED', suggestion: 'Retry in 1 second.', retryAfter: 1 });
  });

  it('reports a longer delay if the bucket needs longer to fill', async () => {
    const fixture = new LimiterFixture({ perSecond: 1, burst: 1 }, 6);
    for (const instance of fixture.instances.keys()) await fixture.callTimes(1, instance);
    await fixture.callTimes(1, 5);
    assert.equal(fixture.refusals.at(-1)?.details.retryAfter, 6);
    assert.match(fixture.refusals.at(-1)?.details.suggestion ?? '', /6 seconds/);
  });

  it('allows calls only at the configured rate after the burst is used up', async () => {
    const fixture = new LimiterFixture(LIMIT);
    await fixture.callTimes(100);
    const before = fixture.passed;
    for (let tenths = 0; tenths < 100; tenths++) {
      fixture.pass(100);
      await fixture.callTimes(5);
    }
    const passed = fixture.passed - before;
    assert.ok(passed >= 95 && passed <= 101, `${passed} of 500 calls in 10 seconds passed`);
  });

  it('rarely asks the ledger while it rejects calls', async () => {
    const fixture = new LimiterFixture(LIMIT);
    await fixture.callTimes(100);
    const { leases } = fixture;
    for (let hundredths = 0; hundredths < 100; hundredths++) {
      fixture.pass(10);
      await fixture.callTimes(20);
    }
    assert.ok(fixture.leases - leases <= 8, `${fixture.leases - leases} leases in a second`);
  });

  it('limits each caller separately', async () => {
    const fixture = new LimiterFixture(LIMIT);
    await fixture.callTimes(100);
    const bob = personOf('bob', 'worker');
    fixture.bucket = undefined; // The simulated ledger has one bucket. Undefined means that it is full, as Bob's is.
    const before = fixture.passed;
    fixture.call(0, bob);
    await settle();
    assert.equal(fixture.passed, before + 1);
  });

  it('uses one lease for concurrent calls of a caller', async () => {
    const fixture = new LimiterFixture(LIMIT);
    fixture.isPrompt = false;
    for (let made = 0; made < 40; made++) fixture.call();
    await settle();
    assert.equal(fixture.waiting, 39);
    fixture.answer(); // Completes the request that charges the first call.
    await settle();
    assert.equal(fixture.leases, 2);
    fixture.answer();
    await settle();
    assert.equal(fixture.passed, 40);
  });

  it('neither charges the first few calls in 30 seconds nor asks the ledger about them', async () => {
    const fixture = new LimiterFixture({ perSecond: 100, burst: 500 }, 2);
    for (let minutes = 0; minutes < 3; minutes++) {
      assert.equal(await fixture.callTimes(5, 0), 5);
      assert.equal(await fixture.callTimes(5, 1), 5);
      assert.equal(fixture.leases, 0);
      fixture.pass(30_000);
    }
    await fixture.callTimes(6);
    assert.deepEqual([fixture.leases, fixture.bucket?.tokens], [1, 490]);
    fixture.pass(30_000 - 1);
    await fixture.callTimes(1);
    assert.equal(fixture.leases, 2, 'uncharged calls return only after 30 seconds');
  });

  it('returns unspent tokens to the ledger before the lease expires', async () => {
    const fixture = new LimiterFixture({ perSecond: 100, burst: 500 });
    await fixture.callTimes(5 + 1);
    assert.equal(fixture.bucket?.tokens, 490);
    for (let times = 0; times < 2; times++) {
      fixture.pass(LEASE_EXPIRY_MS);
      fixture.bucket = { tokens: 100, at: fixture.bucket?.at ?? 0 };
      fixture.bucket = { ...fixture.bucket, at: fixture.bucket.at + LEASE_EXPIRY_MS };
      await fixture.callTimes(1);
      assert.equal(fixture.bucket?.tokens, 99, 'one call, one token');
    }
  });

  it('does not charge leased tokens that expire unspent', async () => {
    const fixture = new LimiterFixture(LIMIT);
    await fixture.callTimes(48);
    assert.ok((fixture.bucket?.tokens ?? 0) < 1, 'the rest is leased');
    fixture.pass(10 * LEASE_EXPIRY_MS);
    assert.equal(await fixture.callTimes(200), LIMIT.burst);
  });

  it('allows the uncharged calls of a caller above the rate only once per instance', async () => {
    const fixture = new LimiterFixture({ perSecond: 1, burst: 5 }, 100);
    for (let times = 0; times < 5; times++) {
      for (const instance of fixture.instances.keys()) await fixture.callTimes(1, instance);
      fixture.pass(LEASE_EXPIRY_MS);
    }
    assert.ok(fixture.passed <= 5 + fixture.seconds + 100, `${fixture.passed} passed`);
  });

  it('allows all calls while the ledger is unavailable, and logs a warning once a minute', async () => {
    const fixture = new LimiterFixture({ perSecond: 1, burst: 1 });
    fixture.isAway = true;
    for (let seconds = 0; seconds < 130; seconds++) {
      fixture.pass(1000);
      assert.equal(await fixture.callTimes(3), 3);
    }
    assert.equal(fixture.warnings.length, 3);
    assert.ok(fixture.leases < 40, 'the ledger is asked rarely');
  });

  it('does not wait for a ledger that is known to be unavailable', async () => {
    const fixture = new LimiterFixture({ perSecond: 1, burst: 1 });
    fixture.isAway = true;
    await fixture.callTimes(2);
    fixture.isPrompt = false;
    fixture.pass(60_000);
    assert.equal(await fixture.callTimes(20), 20);
    assert.equal(fixture.waiting, 0);
  });

  it('limits calls again after the ledger is available again', async () => {
    const fixture = new LimiterFixture({ perSecond: 1, burst: 5 });
    fixture.isAway = true;
    await fixture.callTimes(50);
    fixture.isAway = false;
    fixture.pass(60_000);
    const passed = await fixture.callTimes(50);
    assert.ok(passed <= 7, `${passed} passed`);
  });

  it('allows all calls of a caller whose leases fail, and still limits other callers', async () => {
    const fixture = new LimiterFixture({ perSecond: 1, burst: 5 });
    fixture.contended = ANN.uid;
    assert.equal(await fixture.callTimes(20), 20);
    const passed = await fixture.callTimes(50, 0, BOB);
    assert.ok(passed <= 7, `${passed} passed`);
    assert.equal(await fixture.callTimes(20), 20);
  });
});
