/**
 * What a call reserves of the budgets that hold for its run: the most that it can cost, as it begins; what it has cost,
 * once it is over. One of which nobody knows what it has cost counts as the most. Source: docs/decisions/0037-budgets.md.
 */
import {
  type Amount,
  amountOf,
  type BudgetPorts,
  budgetKey,
  OutOfBudgetError,
  type Reservation,
  refusalOf,
} from '../../../../graph/rules/budget.ts';
import type { Clock } from '../../../../kernel/ports.ts';
import type { JournalEntry } from '../../store/runDocument.ts';
import type { Price, Usage } from '../ports.ts';
import { costOf } from './budget.ts';

/** How long after its time a call is taken for abandoned. */
const GRACE_MILLISECONDS = 60_000;

/** A call that is about to begin. */
export interface BeginningCall extends Pick<JournalEntry, 'id' | 'inputTokens' | 'maxOutputTokens'> {
  readonly runId: string;
  readonly price: Price;
  /** Milliseconds that it may take. */
  readonly time: number;
}

/**
 * Goes by the budgets as they are now. What others reserve between this and the commit is what they have in flight.
 * @param keys of the budgets that hold
 * @returns undefined where none has a limit
 * @throws OutOfBudgetError where it does not fit
 */
export async function reservationFor(
  { budgets, clock }: BudgetPorts & { readonly clock: Clock },
  keys: readonly string[],
  { id, runId, inputTokens, maxOutputTokens, price, time }: BeginningCall,
): Promise<Reservation | undefined> {
  const limited = await budgets.limited(keys);
  if (limited.length === 0) return undefined;
  const amount = countedOf({ inputTokens, outputTokens: maxOutputTokens }, price);
  const refusal = refusalOf(limited, amount);
  if (refusal !== undefined) throw new OutOfBudgetError(refusal);
  return {
    id: `${runId}-${id}`,
    keys: limited.map(({ budget }) => budgetKey(budget)),
    amount,
    dueAt: new Date(clock.now().getTime() + time + GRACE_MILLISECONDS),
  };
}

function countedOf(usage: Usage, price: Price): Amount {
  return amountOf({ ...usage, costUsd: costOf(usage, price) });
}

/** What a call counts as that is over. @param usage undefined where nobody knows it */
export function settledAs(
  { amount }: Reservation,
  spent: { readonly usage: Usage; readonly costUsd: number } | undefined,
): Amount {
  return spent === undefined ? amount : amountOf({ ...spent.usage, costUsd: spent.costUsd });
}
