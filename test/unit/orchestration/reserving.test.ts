import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  amountOf,
  BudgetExhaustedError,
  type CountedBudget,
  NO_AMOUNT,
} from '../../../functions/src/graph/rules/budget.ts';
import { costOf, MIN_OUTPUT_TOKENS } from '../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';
import { reservationFor } from '../../../functions/src/toolsets/orchestration/rules/calls/journal.ts';
import { START } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { forAllAsync } from '../../support/properties.ts';

const price = { inputPerMillion: 3, outputPerMillion: 15 };
const CALL = { id: 'call', runId: 'run-1', input_tokens: 1000, max_output_tokens: 32_000, price, time: 1000 };

interface Left {
  readonly tokens?: number;
  readonly cost_usd?: number;
}

function budgetWith(limits: Left, spentTokens = 0, reservedTokens = 0): CountedBudget {
  const budget = {
    kind: 'workspace' as const,
    thing_id: 'w',
    workspace: 'w',
    owner_uid: 'ann',
    set_at: START,
    round: 1,
  };
  const counts = { spent: { ...NO_AMOUNT, tokens: spentTokens }, reserved: { ...NO_AMOUNT, tokens: reservedTokens } };
  return { budget: { ...budget, ...limits }, counts };
}

function reserve(limited: readonly CountedBudget[], call: Parameters<typeof reservationFor>[2] = CALL) {
  const ports = portsOf<Parameters<typeof reservationFor>[0]>({
    budgets: { limited: async () => limited },
    clock: { now: () => START },
  });
  return reservationFor(ports, ['workspace-w'], call);
}

describe('reservation from the budgets of a call', () => {
  it('covers the whole call if every budget allows it, and is undefined if there is no budget', async () => {
    assert.deepEqual(await reserve([]), { reservation: undefined, maxOutputTokens: 32_000 });
    const { reservation, maxOutputTokens } = await reserve([budgetWith({ tokens: 33_000 })]);
    assert.deepEqual([reservation?.amount.tokens, maxOutputTokens], [33_000, 32_000]);
  });

  it('is refused for an agent without a price, if one of the budgets has a limit in US dollars', async () => {
    const unpriced = { ...CALL, price: undefined };
    await assert.rejects(reserve([budgetWith({ tokens: 90_000 }), budgetWith({ cost_usd: 1000 })], unpriced), {
      name: 'UnknownPriceError',
    });
    const { reservation } = await reserve([budgetWith({ tokens: 90_000 })], unpriced);
    assert.deepEqual(reservation?.amount, { tokens: 33_000, nano_usd: 0 });
  });

  it('is reduced to the amount left in every budget, but not below the minimum output', async () => {
    const cut = await reserve([budgetWith({ tokens: 50_000 }, 30_000, 5000), budgetWith({ tokens: 90_000 })]);
    assert.deepEqual([cut.reservation?.amount.tokens, cut.maxOutputTokens], [15_000, 14_000]);
    const lowest = 1000 + MIN_OUTPUT_TOKENS;
    assert.equal((await reserve([budgetWith({ tokens: lowest })])).maxOutputTokens, MIN_OUTPUT_TOKENS);
    await assert.rejects(reserve([budgetWith({ tokens: lowest - 1 })]), BudgetExhaustedError);
    const small = { ...CALL, max_output_tokens: 10 };
    assert.equal((await reserve([budgetWith({ tokens: 1010 })], small)).maxOutputTokens, 10);
  });

  it("is refused with the call's cost and with the spent and reserved amounts", async () => {
    const refusalOf = async (limited: CountedBudget) => {
      const error: unknown = await reserve([limited]).catch((why: unknown) => why);
      assert.ok(error instanceof BudgetExhaustedError);
      return [error.refusal.wanted.tokens, error.refusal.isExhausted];
    };
    assert.deepEqual(await refusalOf(budgetWith({ tokens: 5000 }, 4000)), [33_000, true]);
    assert.deepEqual(await refusalOf(budgetWith({ tokens: 5000 }, 0, 4000)), [33_000, false]);
  });

  it('never exceeds the remaining amount, and is refused only if less than the minimum remains', async () => {
    const limits = fc.record(
      { tokens: fc.integer({ min: 0, max: 60_000 }), cost_usd: fc.double({ min: 0, max: 1, noNaN: true }) },
      { requiredKeys: [] },
    );
    const call = fc.record({
      input_tokens: fc.integer({ min: 0, max: 10_000 }),
      max_output_tokens: fc.integer({ min: 1, max: 64_000 }),
    });
    await forAllAsync(fc.array(limits, { minLength: 1, maxLength: 3 }), call, async (lefts, asked) => {
      const fits = (outputTokens: number) => {
        const usage = { input_tokens: asked.input_tokens, output_tokens: outputTokens };
        const { tokens, nano_usd: nanoUsd } = amountOf({ ...usage, cost_usd: costOf(usage, price) });
        return lefts.every(
          (left) => tokens <= (left.tokens ?? Infinity) && nanoUsd <= Math.round((left.cost_usd ?? Infinity) * 1e9),
        );
      };
      const granted = await reserve(
        lefts.map((left) => budgetWith(left)),
        { ...CALL, ...asked },
      ).catch((error: unknown) => {
        assert.ok(error instanceof BudgetExhaustedError);
        return undefined;
      });
      const lowest = Math.min(MIN_OUTPUT_TOKENS, asked.max_output_tokens);
      assert.equal(granted !== undefined, fits(lowest));
      if (granted === undefined) return;
      assert.ok(granted.maxOutputTokens >= lowest && granted.maxOutputTokens <= asked.max_output_tokens);
      assert.ok(fits(granted.maxOutputTokens));
    });
  });
});
