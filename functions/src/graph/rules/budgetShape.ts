/** A budget as callers see it. */
import { z } from 'zod';
import { BUDGET_KINDS, type CountedBudget, leftOf, usdOf } from './budget.ts';

const amountShape = z.object({ money: z.number().describe('US dollars.'), tokens: z.int() });

const limitShape = amountShape.partial();

export const budgetShape = z.object({
  kind: z.enum(BUDGET_KINDS),
  id: z.string(),
  limit: limitShape.describe('Without either there is none.'),
  spent: amountShape,
  reserved: amountShape.describe('The most that calls in flight may cost.'),
  left: limitShape,
});

export function budgetAnswer(counted: CountedBudget): z.output<typeof budgetShape> {
  const { budget, counts } = counted;
  const { kind, id } = budget;
  return {
    kind,
    id,
    limit: limitAnswer(budget),
    spent: { money: usdOf(counts.spent), tokens: counts.spent.tokens },
    reserved: { money: usdOf(counts.reserved), tokens: counts.reserved.tokens },
    left: limitAnswer(leftOf(counted)),
  };
}

function limitAnswer({ costUsd, tokens }: Pick<CountedBudget['budget'], 'costUsd' | 'tokens'>) {
  return { ...(costUsd !== undefined && { money: costUsd }), ...(tokens !== undefined && { tokens }) };
}
