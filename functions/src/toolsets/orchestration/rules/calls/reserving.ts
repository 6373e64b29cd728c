/**
 * What a call reserves of the budgets that hold for its run: the most that it can cost, as it begins; what it has cost,
 * once it is over. One of which nobody knows what it has cost counts as the most. Source: docs/decisions/0035-graph-and-budgets.md.
 */
import {
  type Amount,
  amountOf,
  budgetKey,
  type CountedBudget,
  leftOf,
  OutOfBudgetError,
  type Reservation,
  refusalOf,
} from '../../../../graph/rules/budget.ts';
import type { BudgetPorts } from '../../../../graph/rules/ports.ts';
import type { Clock } from '../../../../kernel/ports.ts';
import type { Price, Usage } from '../agents/model.ts';
import type { JournalEntry } from './attempt.ts';
import { Budget, costOf, LEAST_OUTPUT_TOKENS } from './budget.ts';

/** How long after its time a call is taken for abandoned. */
const GRACE_MILLISECONDS = 60_000;

/** A call that is about to begin. */
export interface BeginningCall extends Pick<JournalEntry, 'id' | 'inputTokens' | 'maxOutputTokens'> {
  readonly runId: string;
  readonly price: Price;
  /** Milliseconds that it may take. */
  readonly time: number;
}

/** A reservation, and the output tokens that the call may ask for. */
interface GrantedCall {
  readonly reservation: Reservation | undefined;
  readonly maxOutputTokens: number;
}

/**
 * Goes by the budgets as they are now. What others reserve between this and the commit is what they have in flight.
 * If the whole call does not fit, it gets the output tokens that do.
 * @param keys of the budgets that hold
 * @returns no reservation if no budget has a limit
 * @throws OutOfBudgetError if not even a short answer fits
 */
export async function reservationFor(
  { budgets, clock }: BudgetPorts & { readonly clock: Clock },
  keys: readonly string[],
  { id, runId, time, price, ...call }: BeginningCall,
): Promise<GrantedCall> {
  const limited = await budgets.limited(keys);
  if (limited.length === 0) return { reservation: undefined, maxOutputTokens: call.maxOutputTokens };
  const { inputTokens } = call;
  const amountWith = (outputTokens: number) => countedOf({ inputTokens, outputTokens }, price);
  const most = outputWithin(limited, call, price);
  const least = Math.min(LEAST_OUTPUT_TOKENS, call.maxOutputTokens);
  const maxOutputTokens = Math.max(least, most);
  const amount = amountWith(maxOutputTokens);
  const refusal = refusalOf(limited, amount);
  if (refusal !== undefined)
    throw new OutOfBudgetError({ ...refusal, wanted: amountWith(call.maxOutputTokens) });
  const dueAt = new Date(clock.now().getTime() + time + GRACE_MILLISECONDS);
  const reservation = {
    id: `${runId}-${id}`,
    keys: limited.map(({ budget }) => budgetKey(budget)),
    amount,
    dueAt,
  };
  return { reservation, maxOutputTokens };
}

/** Returns how many output tokens fit into what is left of every budget. */
function outputWithin(
  limited: readonly CountedBudget[],
  call: Pick<BeginningCall, 'inputTokens' | 'maxOutputTokens'>,
  price: Price,
): number {
  const granted = limited.map((one) => new Budget(leftOf(one)).reserve({ ...call, price, sharedBy: 1 }));
  return Math.min(...granted.map((one) => one?.maxOutputTokens ?? 0));
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
