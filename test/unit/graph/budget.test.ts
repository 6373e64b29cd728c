/** Amounts of a budget: the limit, and the spent, reserved and remaining amounts. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type Amount,
  amountOf,
  type Budget,
  budgetKey,
  budgetKeysOf,
  budgetRefOf,
  budgetRefusalOf,
  type CountedBudget,
  exhaustedBudget,
  minus,
  NO_AMOUNT,
  plus,
  raisedLimit,
  remainingOf,
  usdOf,
  waitsForBudget,
} from '../../../functions/src/graph/rules/budget.ts';
import { forAll } from '../../support/properties.ts';

const LIMIT: Budget = { kind: 'task', thing_id: 'task-1', owner_uid: 'ada', round: 1, set_at: new Date(0) };

function counted(limit: Partial<Budget>, spent: Amount = NO_AMOUNT, reserved: Amount = NO_AMOUNT): CountedBudget {
  return { budget: { ...LIMIT, ...limit }, counts: { spent, reserved } };
}

const usd = (costUsd: number) => amountOf({ cost_usd: costUsd, input_tokens: 0, output_tokens: 0 });
const amounts = fc.record({ nano_usd: fc.integer({ min: 0, max: 1e12 }), tokens: fc.integer({ min: 0, max: 1e9 }) });

describe('budget', () => {
  it('allows a call if the limit covers the spent, the reserved and the requested amount', () => {
    const [limit, wanted] = [{ cost_usd: 1 }, usd(0.25)];
    assert.equal(budgetRefusalOf([counted(limit, usd(0.5), usd(0.25))], wanted), undefined);
    const full = counted(limit, usd(0.5), usd(0.5));
    assert.deepEqual(budgetRefusalOf([full], wanted), { limitedBy: full, wanted, isExhausted: false });
    const spent = counted(limit, usd(0.8));
    assert.deepEqual(
      budgetRefusalOf([full, spent], wanted),
      { limitedBy: spent, wanted, isExhausted: true },
      'the exhausted budget is named',
    );
  });

  it('limits tokens independently of the cost, and allows everything if it has no limit', () => {
    const tokens = { nano_usd: 0, tokens: 101 };
    assert.equal(budgetRefusalOf([counted({ tokens: 100 })], tokens)?.isExhausted, true);
    assert.equal(budgetRefusalOf([counted({ tokens: 101 })], tokens), undefined);
    assert.equal(budgetRefusalOf([counted({}, usd(1e6), usd(1e6))], tokens), undefined);
  });

  it('allows work of unknown cost until its limit is spent completely', () => {
    assert.equal(exhaustedBudget([counted({ cost_usd: 1 }, usd(0.999)), counted({})]), undefined);
    const spent = counted({ tokens: 10 }, { nano_usd: 0, tokens: 10 });
    assert.equal(exhaustedBudget([counted({ cost_usd: 1 }), spent])?.limitedBy, spent);
    assert.ok(exhaustedBudget([counted({ cost_usd: 0 })]), 'nothing may be spent');
  });

  it('proposes a limit only for the exhausted unit: at least double and enough for several calls', () => {
    const raise = (limit: Partial<Budget>, spent: Amount, wanted: Amount) => {
      const refusal = budgetRefusalOf([counted(limit, spent)], wanted) ?? exhaustedBudget([counted(limit, spent)]);
      return refusal && raisedLimit(refusal);
    };
    assert.deepEqual(raise({ cost_usd: 5, tokens: 1e6 }, usd(4.99), usd(0.02)), { cost_usd: 10 });
    assert.deepEqual(raise({ cost_usd: 0.01 }, NO_AMOUNT, usd(0.06)), { cost_usd: 0.6 });
    assert.deepEqual(raise({ tokens: 100 }, { nano_usd: 0, tokens: 100 }, NO_AMOUNT), { tokens: 200 });
    assert.deepEqual(raise({ cost_usd: 1 }, usd(0.5), usd(0.1)), undefined);
  });

  it('has reserved nothing after all calls are settled, and has then spent the actual cost', () =>
    forAll(fc.array(fc.record({ reserved: amounts, cost: amounts, isSettled: fc.boolean() })), (calls) => {
      let [spent, reserved] = [NO_AMOUNT, NO_AMOUNT];
      for (const call of calls) reserved = plus(reserved, call.reserved);
      for (const call of calls.filter(({ isSettled }) => isSettled)) {
        reserved = plus(reserved, minus(call.reserved));
        spent = plus(spent, call.cost);
        assert.ok(reserved.nano_usd >= 0 && reserved.tokens >= 0);
      }
      const sum = (of: 'reserved' | 'cost', isSettled: boolean) =>
        calls.filter((one) => one.isSettled === isSettled).reduce((all, one) => plus(all, one[of]), NO_AMOUNT);
      assert.deepEqual([reserved, spent], [sum('reserved', false), sum('cost', true)]);
    }));

  it('never spends more than its limit if each call is reserved before it is settled', () => {
    const calls = fc.array(fc.record({ maximum: amounts, share: fc.double({ min: 0, max: 1, noNaN: true }) }));
    const limits = fc.record({ cost_usd: fc.double({ min: 0, max: 5000, noNaN: true }), tokens: fc.nat(1e10) });
    forAll(calls, limits, (made, limit) => {
      let spent = NO_AMOUNT;
      for (const { maximum: most, share } of made) {
        if (budgetRefusalOf([counted(limit, spent)], most) !== undefined) continue;
        const used = { nano_usd: Math.floor(most.nano_usd * share), tokens: Math.floor(most.tokens * share) };
        spent = plus(spent, used);
      }
      assert.ok(spent.nano_usd <= Math.round(limit.cost_usd * 1e9) && spent.tokens <= limit.tokens);
      const left = remainingOf(counted(limit, spent));
      assert.ok(Math.abs(Number(left.cost_usd) + usdOf(spent) - limit.cost_usd) < 1e-8);
      assert.equal(Number(left.tokens) + spent.tokens, limit.tokens);
    });
  });

  it('counts costs in whole billionths of a dollar, and never counts less than the actual cost', () => {
    forAll(fc.nat(1e6), fc.nat(1e6), fc.integer({ min: 0, max: 100 }), (input, output, price) => {
      const costUsd = ((input + output) * price) / 1_000_000;
      const { nano_usd: nanoUsd, tokens } = amountOf({ input_tokens: input, output_tokens: output, cost_usd: costUsd });
      assert.deepEqual([nanoUsd, tokens], [(input + output) * price * 1000, input + output]);
    });
    assert.equal(usd(1e-10).nano_usd, 1);
  });
});

describe('budgets that limit an item', () => {
  it('are the budgets of the item, of its ancestors and of its workspace', () => {
    const place = { ancestors: ['task-task-1', 'todo-todo-1'], workspace: 'alpha' };
    const keys = budgetKeysOf('run-run-1', place);
    assert.deepEqual(keys, ['run-run-1', 'task-task-1', 'todo-todo-1', 'workspace-alpha']);
    assert.deepEqual(budgetKeysOf('todo-todo-1', {}), ['todo-todo-1']);
    for (const key of keys) {
      const ref = budgetRefOf(key);
      assert.equal(ref && budgetKey(ref), key);
    }
    assert.equal(budgetRefOf('pull_request-7-1'), undefined);
  });

  it('are named in the reason of a wait, without the id if the item is a private to-do', () => {
    assert.equal(waitsForBudget('task-task-1'), 'Waiting: the budget of task "task-1" is exhausted.');
    assert.equal(waitsForBudget('todo-todo-1'), 'Waiting: the budget of a to-do is exhausted.');
  });
});
