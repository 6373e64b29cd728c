/** Rate limiters of several instances while calls, ledger answers and time passing occur in any order. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { RateLimit } from '../../../functions/src/limits/rules/rateLimiter.ts';
import { inRuns } from '../../support/properties.ts';
import { LimiterFixture, settle } from './fixture.ts';

const limits = fc.record({ perSecond: fc.constantFrom(1, 3, 20, 100), burst: fc.constantFrom(1, 7, 50, 500) });
const INSTANCES = 4;

type Step =
  | { readonly kind: 'call'; readonly instance: number; readonly times: number }
  | { readonly kind: 'pass'; readonly milliseconds: number }
  | { readonly kind: 'answer' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      instance: fc.nat(INSTANCES - 1),
      times: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      milliseconds: fc.oneof(fc.nat(300), fc.nat(3000), fc.nat(30_000)),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'answer' as const }) },
);

const steps = fc.array(step, { minLength: 5, maxLength: 60 });

/** Returns the number of tokens that an instance grants to a new caller at first: a tenth of its largest lease. */
function onTrust({ perSecond, burst }: RateLimit): number {
  const largest = Math.max(1, Math.floor(Math.min(perSecond, burst / 5)));
  return Math.max(1, Math.floor(largest / 10));
}

/** Returns the number of calls that an instance does not charge: half of `onTrust` in every 30 seconds. */
function uncharged(limit: RateLimit, seconds: number): number {
  return Math.floor(onTrust(limit) / 2) * (1 + Math.floor(seconds / 30));
}

async function take(fixture: LimiterFixture, one: Step): Promise<void> {
  if (one.kind === 'pass') fixture.pass(one.milliseconds);
  else if (one.kind === 'answer') fixture.answer();
  else for (let made = 0; made < one.times; made++) fixture.call(one.instance);
  await settle();
}

/** Lets the ledger answer until no request is left. */
async function answerAll(fixture: LimiterFixture): Promise<void> {
  for (let rounds = 0; fixture.asked.length > 0 && rounds < 1000; rounds++) {
    fixture.answer();
    await settle();
  }
}

describe('rate limiter under any order of events', () => {
  it('allows at most the calls that burst, rate and trust together permit', () =>
    inRuns(300).forAllAsync(limits, steps, async (limit, taken) => {
      const fixture = new LimiterFixture(limit, INSTANCES);
      fixture.isPrompt = false;
      for (const one of taken) {
        await take(fixture, one);
        const trusted = onTrust(limit) + uncharged(limit, fixture.seconds);
        const allowed = limit.burst + limit.perSecond * fixture.seconds + INSTANCES * trusted;
        assert.ok(fixture.passed <= allowed + 1e-6, `${fixture.passed} passed, ${allowed} allowed`);
      }
      await answerAll(fixture);
      assert.equal(fixture.waiting, 0, 'no call waits forever');
    }));

  it('finally allows the call of a caller that waits, for any behavior of other callers', () =>
    inRuns(300).forAllAsync(limits, steps, fc.nat(INSTANCES - 1), async (limit, taken, instance) => {
      const fixture = new LimiterFixture(limit, INSTANCES);
      fixture.isPrompt = false;
      for (const one of taken) await take(fixture, one);
      await answerAll(fixture);
      fixture.isPrompt = true;
      for (let tries = 0; tries < 3; tries++) {
        if ((await fixture.callTimes(1, instance)) === 1) return;
        fixture.pass((fixture.refusals.at(-1)?.details.retryAfter ?? 0) * 1000);
      }
      assert.fail('rejected three times after waiting for the retry delay');
    }));

  it('rejects no caller whose calls stay below the rate', () =>
    inRuns(100).forAllAsync(
      fc.array(fc.record({ instance: fc.nat(INSTANCES - 1), late: fc.nat(40) }), { minLength: 50, maxLength: 300 }),
      async (calls) => {
        const fixture = new LimiterFixture({ perSecond: 100, burst: 500 }, INSTANCES);
        for (const { instance, late } of calls) {
          fixture.pass(10 + late);
          await fixture.callTimes(1, instance);
        }
        assert.deepEqual(fixture.refusals, []);
      },
    ));
});
