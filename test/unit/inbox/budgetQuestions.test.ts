/** Question to the owner of a budget that is too small for the next call. */
import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';
import {
  type Amount,
  type Budget,
  budgetRefusalOf,
  exhaustedBudget,
} from '../../../functions/src/graph/rules/budget.ts';
import { BudgetQuestions } from '../../../functions/src/toolsets/inbox/rules/budgetQuestions.ts';
import { START } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';

const usd = (dollars: number, tokens = 0): Amount => ({ nano_usd: dollars * 1e9, tokens });

/** @param wanted maximum cost of the next call; undefined if it is unknown */
async function questionFor(limit: Partial<Budget>, spent: Amount, wanted?: Amount): Promise<string> {
  const budget: Budget = { kind: 'task', thing_id: 'task-1', owner_uid: 'ada', round: 1, set_at: START, ...limit };
  const budgets = [{ budget, counts: { spent, reserved: usd(0.3, 30) } }];
  const refusal = wanted ? budgetRefusalOf(budgets, wanted) : exhaustedBudget(budgets);
  assert.ok(refusal);
  let question = '';
  const ports = portsOf<ConstructorParameters<typeof BudgetQuestions>[0]>({
    requests: { find: async () => undefined },
    graph: { findAll: async () => [undefined] },
    idTokens: { profiles: async () => new Map() },
    hashing: { sha256: () => 'a'.repeat(64) },
    clock: { now: () => START },
    store: {
      commit: async (changes: readonly Change[]) => {
        for (const change of changes) if (change.kind === 'createRequest') question = change.request.question;
      },
    },
  });
  await new BudgetQuestions(ports).ask(refusal, 'default');
  return question;
}

describe('question about a budget', () => {
  const cases: [string, Parameters<typeof questionFor>, string][] = [
    ['in money', [{ cost_usd: 1 }, usd(0.5), usd(0.6)], '$0.5000 of $1 are spent. The next call may need up to $0.6.'],
    [
      'in tokens',
      [{ tokens: 100 }, usd(0, 60), usd(0.1, 50)],
      '60 of 100 tokens are spent. The next call may need up to 50 tokens.',
    ],
    [
      'in both',
      [{ cost_usd: 1, tokens: 100 }, usd(0.5, 60), usd(0.6, 50)],
      '$0.5000 of $1 and 60 of 100 tokens are spent. The next call may need up to $0.6 and 50 tokens.',
    ],
    ['of unknown cost', [{ cost_usd: 1 }, usd(1)], '$1.0000 of $1 are spent.'],
  ];
  for (const [what, asked, says] of cases)
    it(`states the spent amount without the reserve, and the next call: ${what}`, async () => {
      const start = `The budget of task "task-1" is too small: ${says} Work that needs this budget is paused.`;
      const question = await questionFor(...asked);
      assert.ok(question.startsWith(start), question);
    });
});
