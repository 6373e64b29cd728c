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
export interface BeginningCall extends Pick<JournalEntry, 'id' | 'input_tokens' | 'max_output_tokens'> {
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
  if (limited.length === 0) return { reservation: undefined, maxOutputTokens: call.max_output_tokens };
  const amountWith = (outputTokens: number) =>
    countedOf({ input_tokens: call.input_tokens, output_tokens: outputTokens }, price);
  const most = outputWithin(limited, call, price);
  const maxOutputTokens = Math.max(Math.min(LEAST_OUTPUT_TOKENS, call.max_output_tokens), most);
  const amount = amountWith(maxOutputTokens);
  const refusal = refusalOf(limited, amount);
  if (refusal !== undefined)
    throw new OutOfBudgetError({ ...refusal, wanted: amountWith(call.max_output_tokens) });
  const reservation = {
    id: `${runId}-${id}`,
    keys: limited.map(({ budget }) => budgetKey(budget)),
    amount,
    due_at: new Date(clock.now().getTime() + time + GRACE_MILLISECONDS),
  };
  return { reservation, maxOutputTokens };
}

/** Returns how many output tokens fit into what is left of every budget. */
function outputWithin(
  limited: readonly CountedBudget[],
  call: Pick<BeginningCall, 'input_tokens' | 'max_output_tokens'>,
  price: Price,
): number {
  const granted = limited.map((one) => new Budget(leftOf(one)).reserve({ ...call, price, sharedBy: 1 }));
  return Math.min(...granted.map((one) => one?.max_output_tokens ?? 0));
}

function countedOf(usage: Usage, price: Price): Amount {
  return amountOf({ ...usage, cost_usd: costOf(usage, price) });
}

/** What a call counts as that is over. @param usage undefined where nobody knows it */
export function settledAs(
  { amount }: Reservation,
  spent: { readonly usage: Usage; readonly cost_usd: number } | undefined,
): Amount {
  return spent === undefined ? amount : amountOf({ ...spent.usage, cost_usd: spent.cost_usd });
}
