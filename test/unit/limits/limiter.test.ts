import assert from 'node:assert/strict';
import { LAPSE_MILLISECONDS } from '../../../functions/src/limits/rules/rateLimiter.ts';
import { personOf } from '../../support/principals.ts';
import { ANN, BOB, Fleet, settle } from './fleet.ts';

/** Leases have 1 to 10 tokens. */
const LIMIT = { perSecond: 10, burst: 50 };

describe('rate limiter', () => {
  it('passes a first call without waiting for the ledger, and charges it afterwards', async () => {
    const fleet = new Fleet(LIMIT);
    fleet.isPrompt = false;
    assert.equal(await fleet.callTimes(1), 1);
    assert.equal(fleet.asked.length, 1);
    fleet.answer();
    await settle();
    assert.equal(fleet.bucket?.tokens, 49);
  });

  it('spends leased tokens without a request', async () => {
    const fleet = new Fleet({ perSecond: 1000, burst: 5000 });
    await fleet.callTimes(30);
    const { leases } = fleet;
    fleet.isPrompt = false;
    assert.equal(await fleet.callTimes(20), 20);
    assert.ok(fleet.leases - leases <= 1, 'one lease, in the background');
  });

  it('leases more tokens at higher call rates, and fewer when calls slow down', async () => {
    const fleet = new Fleet({ perSecond: 1000, burst: 5000 });
    await fleet.callTimes(2000);
    const { leases } = fleet;
    assert.ok(leases < 20, `${leases} leases for 2000 calls at once`);
    await fleet.callTimes(1000);
    assert.ok(fleet.leases - leases <= 5, 'chunks of hundreds');
  });

  it('rejects calls over the burst and returns the retry delay', async () => {
    const fleet = new Fleet(LIMIT);
    const passed = await fleet.callTimes(100);
    assert.ok(passed >= 50 && passed <= 51, `${passed} passed`);
    const [refusal] = fleet.refusals;
    assert.equal(refusal?.code, 'RATE_LIMITED');
    assert.deepEqual(refusal?.details, {
      reason: 'RATE_LIMITED',
      suggestion: 'Retry in 1 second.',
      retryAfter: 1,
    });
  });

  it('returns a longer delay if the bucket needs it', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 1 }, 6);
    for (const instance of fleet.instances.keys()) await fleet.callTimes(1, instance);
    await fleet.callTimes(1, 5);
    assert.equal(fleet.refusals.at(-1)?.details.retryAfter, 6);
    assert.match(fleet.refusals.at(-1)?.details.suggestion ?? '', /6 seconds/);
  });

  it('enforces the rate after the burst', async () => {
    const fleet = new Fleet(LIMIT);
    await fleet.callTimes(100);
    const before = fleet.passed;
    for (let tenths = 0; tenths < 100; tenths++) {
      fleet.pass(100);
      await fleet.callTimes(5);
    }
    const passed = fleet.passed - before;
    assert.ok(passed >= 95 && passed <= 101, `${passed} of 500 calls in 10 seconds passed`);
  });

  it('rarely asks the ledger while it rejects', async () => {
    const fleet = new Fleet(LIMIT);
    await fleet.callTimes(100);
    const { leases } = fleet;
    for (let hundredths = 0; hundredths < 100; hundredths++) {
      fleet.pass(10);
      await fleet.callTimes(20);
    }
    assert.ok(fleet.leases - leases <= 8, `${fleet.leases - leases} leases in a second`);
  });

  it('limits each principal separately', async () => {
    const fleet = new Fleet(LIMIT);
    await fleet.callTimes(100);
    const bob = personOf('bob', 'worker');
    fleet.bucket = undefined; // This ledger has one bucket; Bob's is full.
    const before = fleet.passed;
    fleet.call(0, bob);
    await settle();
    assert.equal(fleet.passed, before + 1);
  });

  it('shares a lease between concurrent calls', async () => {
    const fleet = new Fleet(LIMIT);
    fleet.isPrompt = false;
    for (let made = 0; made < 40; made++) fleet.call();
    await settle();
    assert.equal(fleet.waiting, 39);
    fleet.answer(); // Charges the first call.
    await settle();
    assert.equal(fleet.leases, 2);
    fleet.answer();
    await settle();
    assert.equal(fleet.passed, 40);
  });

  it('neither charges nor asks the ledger for a few calls per 30 seconds', async () => {
    const fleet = new Fleet({ perSecond: 100, burst: 500 }, 2);
    for (let minutes = 0; minutes < 3; minutes++) {
      assert.equal(await fleet.callTimes(5, 0), 5);
      assert.equal(await fleet.callTimes(5, 1), 5);
      assert.equal(fleet.leases, 0);
      fleet.pass(30_000);
    }
    await fleet.callTimes(6);
    assert.deepEqual([fleet.leases, fleet.bucket?.tokens], [1, 490]);
    fleet.pass(30_000 - 1);
    await fleet.callTimes(1);
    assert.equal(fleet.leases, 2, 'uncharged calls return only after 30 seconds');
  });

  it('returns unspent tokens in time', async () => {
    const fleet = new Fleet({ perSecond: 100, burst: 500 });
    await fleet.callTimes(5 + 1);
    assert.equal(fleet.bucket?.tokens, 490);
    for (let times = 0; times < 2; times++) {
      fleet.pass(LAPSE_MILLISECONDS);
      fleet.bucket = { tokens: 100, at: fleet.bucket?.at ?? 0 };
      fleet.bucket = { ...fleet.bucket, at: fleet.bucket.at + LAPSE_MILLISECONDS };
      await fleet.callTimes(1);
      assert.equal(fleet.bucket?.tokens, 99, 'one call, one token');
    }
  });

  it('lets unspent tokens expire', async () => {
    const fleet = new Fleet(LIMIT);
    await fleet.callTimes(48);
    assert.ok((fleet.bucket?.tokens ?? 0) < 1, 'the rest is leased');
    fleet.pass(10 * LAPSE_MILLISECONDS);
    assert.equal(await fleet.callTimes(200), LIMIT.burst);
  });

  it('grants trust once to a principal over the rate, on any number of instances', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 5 }, 100);
    for (let times = 0; times < 5; times++) {
      for (const instance of fleet.instances.keys()) await fleet.callTimes(1, instance);
      fleet.pass(LAPSE_MILLISECONDS);
    }
    assert.ok(fleet.passed <= 5 + fleet.seconds + 100, `${fleet.passed} passed`);
  });

  it('passes all calls while the ledger is unavailable, and warns once a minute', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 1 });
    fleet.isAway = true;
    for (let seconds = 0; seconds < 130; seconds++) {
      fleet.pass(1000);
      assert.equal(await fleet.callTimes(3), 3);
    }
    assert.equal(fleet.warnings.length, 3);
    assert.ok(fleet.leases < 40, 'the ledger is asked rarely');
  });

  it('does not wait for a ledger that is known to be unavailable', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 1 });
    fleet.isAway = true;
    await fleet.callTimes(2);
    fleet.isPrompt = false;
    fleet.pass(60_000);
    assert.equal(await fleet.callTimes(20), 20);
    assert.equal(fleet.waiting, 0);
  });

  it('limits again when the ledger is back', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 5 });
    fleet.isAway = true;
    await fleet.callTimes(50);
    fleet.isAway = false;
    fleet.pass(60_000);
    const passed = await fleet.callTimes(50);
    assert.ok(passed <= 7, `${passed} passed`);
  });

  it('passes only the principal whose lease fails, and limits the others', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 5 });
    fleet.contended = ANN.uid;
    assert.equal(await fleet.callTimes(20), 20);
    const passed = await fleet.callTimes(50, 0, BOB);
    assert.ok(passed <= 7, `${passed} passed`);
    assert.equal(await fleet.callTimes(20), 20);
  });
});
