import { z } from 'zod';
import { BUDGET_KINDS, budgetAnswer, budgetShape } from '../../../graph/rules/budget.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf } from '../../../kernel/ids.ts';
import { clearArgument, clearing } from '../../../mcp/tool.ts';
import { defineTool } from './systemPages.ts';

export const setBudget = defineTool({
  name: 'setBudget',
  title: 'Set a budget',
  description:
    'Limits what a workspace, to-do, task or run and all its parts may spend on models; clear removes a limit.',
  details:
    'A call of a model is made where what it can cost at most is left of every budget above it. When one is spent, work waits, and whoever set it is asked to raise it. What was spent before counts, but for a workspace: that counts from when it is set. If an agent raises or removes a limit that it did not set, the person who set it approves the call first.',
  input: z.strictObject({
    kind: z.enum(BUDGET_KINDS).describe('Of what'),
    id: idOf('a workspace, to-do, task or run').describe('Its id'),
    money: z.number().min(0).max(1e6).optional().describe('US dollars'),
    tokens: z.int().min(0).max(1e12).optional().describe('In and out together'),
    clear: clearArgument('money', 'tokens'),
  }),
  output: budgetShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: ['budget'],
  role: 'worker',
  audience: 'those who administer',
  example: { kind: 'task', id: 'task-xxx-001', money: 5, tokens: 2_000_000 },
  answer: budgetAnswer,
  handler: ({ services, principal, workspace, recordAnswer }, input) => {
    const { clear, money, tokens, kind, id: thing_id } = input;
    const changed = clearing(clear);
    const limits = { money: changed('money', money), tokens: changed('tokens', tokens) };
    if (limits.money === undefined && limits.tokens === undefined) throw nothingSaid();
    return services.system.budgets.set(principal, { workspace, kind, thing_id, ...limits }, recordAnswer);
  },
});

function nothingSaid(): MusterError {
  return new MusterError('REQUIRED_FIELD', 'It does not say how much may be spent.', {
    field: 'money',
    reason: 'MISSING',
    suggestion:
      'Give money, tokens or both; clear removes a limit. system.getTree shows the budgets that hold.',
  });
}
