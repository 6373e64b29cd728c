/** What a run may spend: reserved before, booked after. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Budget, costOf } from '../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';

const price = { inputPerMillion: 3, outputPerMillion: 15 };
const usual = { inputTokens: 100, maxOutputTokens: 1000, price, sharedBy: 1 };

const planned = fc.record({
  input: fc.integer({ min: 0, max: 500 }),
  output: fc.integer({ min: 1, max: 500 }),
  used: fc.integer({ min: 0, max: 100 }),
  sharedBy: fc.integer({ min: 1, max: 4 }),
  settles: fc.constantFrom('now', 'later', 'unknown'),
});

type Planned = typeof planned extends fc.Arbitrary<infer Value> ? Value : never;

describe('a budget', () => {
  it('caps a call by what is left, and refuses one that would have no room to answer', () => {
    const budget = new Budget({ tokens: 1000 });
    const first = budget.reserve({ ...usual, maxOutputTokens: 600 });
    assert.equal(first?.maxOutputTokens, 600);
    assert.equal(budget.reserve(usual)?.maxOutputTokens, 200);
    assert.equal(budget.reserve(usual), undefined);
  });

  it('gives back what a call did not use', () => {
    const budget = new Budget({ tokens: 1000 });
    budget.reserve(usual)?.complete({ inputTokens: 50, outputTokens: 150 });
    assert.equal(budget.describe(), '800 tokens');
    assert.deepEqual(budget.spent.usage, { inputTokens: 50, outputTokens: 150 });
  });

  it('keeps what may have been billed', () => {
    const budget = new Budget({ tokens: 1000 });
    budget.reserve({ ...usual, maxOutputTokens: 300 })?.complete(undefined);
    assert.equal(budget.describe(), '600 tokens');
  });

  it('is shared among calls at once', () => {
    const budget = new Budget({ tokens: 1000 });
    assert.equal(budget.reserve({ ...usual, sharedBy: 2 })?.maxOutputTokens, 400);
    assert.equal(budget.reserve({ ...usual, sharedBy: 2 })?.maxOutputTokens, 400);
    assert.equal(budget.reserve(usual), undefined);
  });

  it('limits dollars by the price of the agent', () => {
    const budget = new Budget({ costUsd: 0.0018 });
    assert.equal(budget.reserve(usual)?.maxOutputTokens, 100);
    const free = { inputPerMillion: 0, outputPerMillion: 0 };
    assert.equal(new Budget({ costUsd: 0 }).reserve({ ...usual, price: free })?.maxOutputTokens, 1000);
    assert.equal(new Budget({ costUsd: 0 }).reserve(usual), undefined);
  });

  it('goes on where an earlier execution has spent', () => {
    const spent = { usage: { inputTokens: 500, outputTokens: 400 }, costUsd: 1 };
    assert.equal(new Budget({ tokens: 1000 }, spent).reserve(usual), undefined);
  });

  it('is never exceeded by calls that keep to what they were given', () => {
    const limits = fc.record({
      tokens: fc.integer({ min: 1, max: 3000 }),
      costUsd: fc.double({ min: 0, max: 0.05, noNaN: true }),
    });
    fc.assert(
      fc.property(limits, fc.array(planned, { maxLength: 30 }), (limit, calls) => {
        const budget = new Budget(limit);
        const unknown = spend(budget, calls);
        const { usage, costUsd } = budget.spent;
        assert.ok(usage.inputTokens + usage.outputTokens + unknown <= limit.tokens);
        assert.ok(costUsd <= limit.costUsd + 1e-9);
        assert.ok(Math.abs(costUsd - costOf(usage, price)) < 1e-9);
      }),
    );
  });
});

/** @returns how many tokens may have been billed without being booked */
function spend(budget: Budget, calls: readonly Planned[]): number {
  const open: (() => void)[] = [];
  let unknown = 0;
  for (const { input, output, used, sharedBy, settles } of calls) {
    const ask = { inputTokens: input, maxOutputTokens: output, price, sharedBy };
    const reservation = budget.reserve(ask);
    if (reservation === undefined) continue;
    const given = reservation.maxOutputTokens;
    assert.ok(given >= 1 && given <= output);
    const usage = { inputTokens: input, outputTokens: Math.floor((given * used) / 100) };
    if (settles === 'later') open.push(() => reservation.complete(usage));
    else reservation.complete(settles === 'now' ? usage : undefined);
    unknown += settles === 'unknown' ? input + given : 0;
  }
  for (const complete of open) complete();
  return unknown;
}
