import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import {
  costOf,
  estimatedTokens,
  MIN_OUTPUT_TOKENS,
  RunBudget,
} from '../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';
import { usageOf } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { forAll } from '../../support/properties.ts';

const price = { inputPerMillion: 3, outputPerMillion: 15 };
const standard = { input_tokens: 1000, max_output_tokens: 10_000, price, sharedBy: 1 };

const planned = fc.record({
  input: fc.integer({ min: 0, max: 5000 }),
  output: fc.integer({ min: 1, max: 8000 }),
  used: fc.integer({ min: 0, max: 100 }),
  sharedBy: fc.integer({ min: 1, max: 4 }),
  settles: fc.constantFrom('now', 'later', 'unknown'),
});
type Planned = typeof planned extends fc.Arbitrary<infer Value> ? Value : never;

describe('RunBudget', () => {
  it('limits a call to the remaining tokens, and refuses a call if no output tokens remain', () => {
    const budget = new RunBudget({ tokens: 10_000 });
    const first = budget.reserve({ ...standard, max_output_tokens: 5000 });
    assert.equal(first?.max_output_tokens, 5000);
    assert.equal(budget.reserve(standard)?.max_output_tokens, 3000);
    assert.equal(budget.reserve(standard), undefined);
  });

  it('refuses a call if less than the minimum output remains, unless the step requests less', () => {
    const lowest = 1000 + MIN_OUTPUT_TOKENS;
    assert.equal(new RunBudget({ tokens: lowest }).reserve(standard)?.max_output_tokens, MIN_OUTPUT_TOKENS);
    assert.equal(new RunBudget({ tokens: lowest - 1 }).reserve(standard), undefined);
    assert.equal(
      new RunBudget({ tokens: 1010 }).reserve({ ...standard, max_output_tokens: 10 })?.max_output_tokens,
      10,
    );
  });

  it('releases the part of a reservation that the call did not use', () => {
    const budget = new RunBudget({ tokens: 12_000 });
    budget.reserve(standard)?.complete({ input_tokens: 50, output_tokens: 150 });
    assert.equal(budget.describe(), '11800 tokens');
    assert.deepEqual(budget.spent.usage, { input_tokens: 50, output_tokens: 150 });
  });

  it('keeps the whole reservation if the billed amount is unknown', () => {
    const budget = new RunBudget({ tokens: 10_000 });
    budget.reserve({ ...standard, max_output_tokens: 3000 })?.complete(undefined);
    assert.equal(budget.describe(), '6000 tokens');
  });

  it('is divided between concurrent calls', () => {
    const budget = new RunBudget({ tokens: 10_000 });
    assert.equal(budget.reserve({ ...standard, sharedBy: 2 })?.max_output_tokens, 4000);
    assert.equal(budget.reserve({ ...standard, sharedBy: 2 })?.max_output_tokens, 4000);
    assert.equal(budget.reserve(standard), undefined);
  });

  it('limits the cost of a call by the price of its agent', () => {
    const budget = new RunBudget({ cost_usd: 0.048 });
    assert.equal(budget.reserve(standard)?.max_output_tokens, 3000);
    const free = { inputPerMillion: 0, outputPerMillion: 0 };
    assert.equal(new RunBudget({ cost_usd: 0 }).reserve({ ...standard, price: free })?.max_output_tokens, 10_000);
    assert.equal(new RunBudget({ cost_usd: 0 }).reserve(standard), undefined);
  });

  it('includes the amount that an earlier execution of the run has spent', () => {
    const spent = { usage: { input_tokens: 5000, output_tokens: 4000 }, cost_usd: 1 };
    assert.equal(new RunBudget({ tokens: 10_000 }, spent).reserve(standard), undefined);
    assert.ok(new RunBudget({ tokens: 20_000 }, spent).reserve(standard));
  });

  it('is never exceeded if each call stays within its reservation', () => {
    const limits = fc.record({
      tokens: fc.integer({ min: 1, max: 40_000 }),
      cost_usd: fc.double({ min: 0, max: 0.6, noNaN: true }),
    });
    forAll(limits, fc.array(planned, { maxLength: 30 }), (limit, calls) => {
      const budget = new RunBudget(limit);
      const unknown = spend(budget, calls);
      const { usage, cost_usd: costUsd } = budget.spent;
      assert.ok(usage.input_tokens + usage.output_tokens + unknown <= limit.tokens);
      assert.ok(costUsd <= limit.cost_usd + 1e-9);
      assert.equal(costUsd, costOf(usage, price));
    });
  });

  it('adds costs without rounding errors', () => {
    const budget = new RunBudget({});
    const dime = { inputPerMillion: 100_000, outputPerMillion: 0 };
    for (const inputTokens of [1, 2])
      budget.reserve({ ...standard, price: dime })?.complete({ input_tokens: inputTokens, output_tokens: 0 });
    assert.equal(budget.spent.cost_usd, 0.3);
  });

  it('counts the same cost for every order in which calls end', () => {
    const usage = fc.record({ input_tokens: fc.nat(200_000), output_tokens: fc.nat(64_000) });
    // Price in US dollars per million tokens, with at most six decimal places.
    const perMillion = fc.nat(100_000_000).map((millionths) => millionths / 1_000_000);
    const prices = fc.record({ inputPerMillion: perMillion, outputPerMillion: perMillion });
    const attempt = { call: 'answer', number: 1, agent: 'claude', model: 'm', waited: 0 };
    const attempts = fc
      .tuple(fc.array(usage, { maxLength: 12 }), prices)
      .map(([usages, of]) =>
        usages.map((one) => ({
          ...attempt,
          end: 'answered' as const,
          milliseconds: 0,
          outcome_unknown: false,
          usage: one,
          cost_usd: costOf(one, of),
        })),
      );
    const inTwoOrders = attempts.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    forAll(inTwoOrders, ([all, shuffled]) => assert.deepEqual(usageOf(shuffled), usageOf(all)));
  });
});

/** @returns the reserved tokens of calls whose billed amount stays unknown */
function spend(budget: RunBudget, calls: readonly Planned[]): number {
  const open: (() => void)[] = [];
  let unknown = 0;
  for (const { input, output, used, sharedBy, settles } of calls) {
    const ask = { input_tokens: input, max_output_tokens: output, price, sharedBy };
    const reservation = budget.reserve(ask);
    if (reservation === undefined) continue;
    const given = reservation.max_output_tokens;
    assert.ok(given >= 1 && given <= output);
    const usage = { input_tokens: input, output_tokens: Math.floor((given * used) / 100) };
    if (settles === 'later') open.push(() => reservation.complete(usage));
    else reservation.complete(settles === 'now' ? usage : undefined);
    unknown += settles === 'unknown' ? input + given : 0;
  }
  for (const complete of open) complete();
  return unknown;
}

describe('estimatedTokens', () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8').slice(0, 20_000);
  const rows = Array.from({ length: 50 }, (_, id) => ({ id, key: `a3f9c1d2-88e4-4b${id}`, at: [id * 1.2345, true] }));
  const texts = {
    English: read('docs/architecture.md'),
    TypeScript: read('functions/src/kernel/json.ts'),
    Python: read('examples/worker.py'),
    JSON: JSON.stringify(rows),
    'indented JSON': read('package-lock.json'),
    numbers: rows.map(({ id }) => `${id},${(id * 37) % 101},${(id * 0.77).toFixed(2)}`).join('\n'),
    Chinese: '任务队列由代理领取，每个任务都有租约，过期后会被释放。模型的回答被记录在日志中，重复执行时不会再次付费。',
    Japanese: 'タスクはエージェントによって取得され、期限が切れると解放されます。',
    German: 'Die Warteschlange verteilt Aufgaben an Agenten, deren Pacht verlängert wird.',
  };
  /** Maximum ratio of a newer model's token count to the count in the encodings that are available here. */
  const NEWER = 1.3;

  for (const [name, text] of Object.entries(texts))
    it(`is 1 to 2 times the token count of a newer model: ${name}`, () => {
      const counted = NEWER * Math.max(cl100k(text), o200k(text));
      const estimated = estimatedTokens(text);
      assert.ok(estimated >= counted, `${estimated} of ${counted}`);
      assert.ok(estimated <= 2 * counted, `${estimated} of ${counted}`);
    });

  it('increases with the length of the text', () =>
    forAll(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (left, right) => {
      const whole = estimatedTokens(left + right);
      assert.ok(whole >= estimatedTokens(left) && whole <= estimatedTokens(left) + estimatedTokens(right));
    }));
});
