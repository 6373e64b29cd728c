/** A run whose next call does not fit into a budget that holds for it. Source: docs/decisions/0037-budgets.md. */
import { budgetKey, type Refusal } from '../../../../graph/rules/budget.ts';
import type { ExecutionPorts } from '../ports.ts';
import type { RunLease } from './lease.ts';
import { outOfBudget, type Run } from './run.ts';

/** Has the run wait, and whoever set the budget asked where it is spent. What was done of its steps is in the journal. */
export async function waitForBudget(
  { budgets, dispatch, askToRaise }: ExecutionPorts,
  lease: Pick<RunLease, 'change'>,
  { id, workspace }: Run,
  refusal: Refusal,
): Promise<'more' | 'over'> {
  const { budget } = refusal.by;
  if (refusal.isSpent) await askToRaise(refusal, workspace);
  const left = await lease.change((run, now) => (run.cancelRequested ? run : outOfBudget(run, refusal, now)));
  if (left.cancelRequested) return 'more';
  // Whoever has raised it meanwhile has found no run that waits.
  const now = await budgets.find(budgetKey(budget));
  if (now?.value.round !== budget.round) await dispatch.dispatch(id);
  return 'over';
}
