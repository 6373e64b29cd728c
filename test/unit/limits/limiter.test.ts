import assert from 'node:assert/strict';
import { LAPSE_MILLISECONDS } from '../../../functions/src/limits/rules/rateLimiter.ts';
import { personOf } from '../../support/principals.ts';
import { ANN, BOB, Fleet, settle } from './fleet.ts';

/** Leases of 1 to 10 tokens. */
const LIMIT = { perSecond: 10, burst: 50 };

describe('the rate limiter', () => {
  it('lets a first call through without waiting for the ledger, and charges it afterwards', async () => {
    const fleet = new Fleet(LIMIT);
    fleet.isPrompt = false;
    assert.equal(await fleet.callTimes(1), 1);
    assert.equal(fleet.asked.length, 1);
    fleet.answer();
    await settle();
    assert.equal(fleet.bucket?.tokens, 49);
  });

  it('spends what is in hand without asking', async () => {
    const fleet = new Fleet({ perSecond: 1000, burst: 5000 });
    await fleet.callTimes(30);
    const { leases } = fleet;
    fleet.isPrompt = false;
    assert.equal(await fleet.callTimes(20), 20);
    assert.ok(fleet.leases - leases <= 1, 'one lease, in the background');
  });

  it('asks for more at a time the faster calls come, and for less when they slow down', async () => {
    const fleet = new Fleet({ perSecond: 1000, burst: 5000 });
    await fleet.callTimes(2000);
    const { leases } = fleet;
    assert.ok(leases < 20, `${leases} leases for 2000 calls at once`);
    await fleet.callTimes(1000);
    assert.ok(fleet.leases - leases <= 5, 'chunks of hundreds');
  });

  it('refuses what is over the burst, and says when to come back', async () => {
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

  it('says a longer time where the bucket needs it', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 1 }, 6);
    for (const instance of fleet.instances.keys()) await fleet.callTimes(1, instance);
    await fleet.callTimes(1, 5);
    assert.equal(fleet.refusals.at(-1)?.details.retryAfter, 6);
    assert.match(fleet.refusals.at(-1)?.details.suggestion ?? '', /6 seconds/);
  });

  it('keeps to the rate after the burst', async () => {
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

  it('asks the ledger seldom while it refuses', async () => {
    const fleet = new Fleet(LIMIT);
    await fleet.callTimes(100);
    const { leases } = fleet;
    for (let hundredths = 0; hundredths < 100; hundredths++) {
      fleet.pass(10);
      await fleet.callTimes(20);
    }
    assert.ok(fleet.leases - leases <= 8, `${fleet.leases - leases} leases in a second`);
  });

  it('holds each principal to its own rate', async () => {
    const fleet = new Fleet(LIMIT);
    await fleet.callTimes(100);
    const bob = personOf('bob', 'worker');
    fleet.bucket = undefined; // this ledger has one bucket; bob's is full
    const before = fleet.passed;
    fleet.call(0, bob);
    await settle();
    assert.equal(fleet.passed, before + 1);
  });

  it('lets calls at once share a lease', async () => {
    const fleet = new Fleet(LIMIT);
    fleet.isPrompt = false;
    for (let made = 0; made < 40; made++) fleet.call();
    await settle();
    assert.equal(fleet.waiting, 39);
    fleet.answer(); // charges the first
    await settle();
    assert.equal(fleet.leases, 2);
    fleet.answer();
    await settle();
    assert.equal(fleet.passed, 40);
  });

  it('charges nobody for a few calls in half a minute, and asks nobody', async () => {
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
    assert.equal(fleet.leases, 2, 'only then it passes uncharged again');
  });

  it('gives back what it did not spend in time', async () => {
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

  it('lets what it did not spend in time lapse', async () => {
    const fleet = new Fleet(LIMIT);
    await fleet.callTimes(48);
    assert.ok((fleet.bucket?.tokens ?? 0) < 1, 'the rest is in hand');
    fleet.pass(10 * LAPSE_MILLISECONDS);
    assert.equal(await fleet.callTimes(200), LIMIT.burst);
  });

  it('trusts nobody twice who is over the rate, on however many instances', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 5 }, 100);
    for (let times = 0; times < 5; times++) {
      for (const instance of fleet.instances.keys()) await fleet.callTimes(1, instance);
      fleet.pass(LAPSE_MILLISECONDS);
    }
    assert.ok(fleet.passed <= 5 + fleet.seconds + 100, `${fleet.passed} passed`);
  });

  it('passes everybody while the ledger is away, and says so once a minute', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 1 });
    fleet.isAway = true;
    for (let seconds = 0; seconds < 130; seconds++) {
      fleet.pass(1000);
      assert.equal(await fleet.callTimes(3), 3);
    }
    assert.equal(fleet.warnings.length, 3);
    assert.ok(fleet.leases < 40, 'asks now and then');
  });

  it('keeps nobody waiting for a ledger that is known to be away', async () => {
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

  it('passes only the one whose bucket cannot be leased from, and goes on limiting the others', async () => {
    const fleet = new Fleet({ perSecond: 1, burst: 5 });
    fleet.contended = ANN.uid;
    assert.equal(await fleet.callTimes(20), 20);
    const passed = await fleet.callTimes(50, 0, BOB);
    assert.ok(passed <= 7, `${passed} passed`);
    assert.equal(await fleet.callTimes(20), 20);
  });
});
