/**
 * Reservations on the budgets that apply to a run. A call reserves its maximum cost before it starts. When it ends,
 * its actual cost replaces the reservation, if known. Source: docs/decisions/0035-graph-and-budgets.md.
 */
import {
  type Amount,
  amountOf,
  BudgetExhaustedError,
  budgetKey,
  budgetRefusalOf,
  type CountedBudget,
  type Reservation,
  remainingOf,
} from '../../../../graph/rules/budget.ts';
import type { BudgetPorts } from '../../../../graph/rules/ports.ts';
import type { Clock } from '../../../../kernel/ports.ts';
import type { Price } from '../agents/model.ts';
import type { JournalEntry } from './attempt.ts';
import { costOf, MIN_OUTPUT_TOKENS, RunBudget } from './budget.ts';

/** Time between the time limit of a call and the expiry of its reservation. */
const GRACE_MS = 60_000;

export interface StartingCall extends Pick<JournalEntry, 'id' | 'input_tokens' | 'max_output_tokens'> {
  readonly runId: string;
  readonly price: Price;
  /** Time limit in milliseconds. */
  readonly time: number;
}

/**
 * Computes a call's reservation from the current budgets. If the budgets do not cover the whole call, it gets fewer
 * output tokens. Calls that reserve at the same time may together exceed a budget.
 * @returns no reservation if none of the budgets has a limit
 * @throws BudgetExhaustedError if the budgets do not even cover a short answer
 */
export async function reservationFor(
  { budgets, clock }: BudgetPorts & { readonly clock: Clock },
  keys: readonly string[],
  { id, runId, time, price, ...call }: StartingCall,
): Promise<{ readonly reservation: Reservation | undefined; readonly maxOutputTokens: number }> {
  const limited = await budgets.limited(keys);
  if (limited.length === 0) return { reservation: undefined, maxOutputTokens: call.max_output_tokens };
  const amountWith = (outputTokens: number): Amount => {
    const usage = { input_tokens: call.input_tokens, output_tokens: outputTokens };
    return amountOf({ ...usage, cost_usd: costOf(usage, price) });
  };
  const limit = outputWithin(limited, call, price);
  const maxOutputTokens = Math.max(Math.min(MIN_OUTPUT_TOKENS, call.max_output_tokens), limit);
  const amount = amountWith(maxOutputTokens);
  const refusal = budgetRefusalOf(limited, amount);
  if (refusal !== undefined) throw new BudgetExhaustedError({ ...refusal, wanted: amountWith(call.max_output_tokens) });
  const reservation = {
    id: `${runId}-${id}`,
    keys: limited.map(({ budget }) => budgetKey(budget)),
    amount,
    due_at: new Date(clock.now().getTime() + time + GRACE_MS),
  };
  return { reservation, maxOutputTokens };
}

function outputWithin(
  limited: readonly CountedBudget[],
  call: Pick<StartingCall, 'input_tokens' | 'max_output_tokens'>,
  price: Price,
): number {
  const granted = limited.map((one) => new RunBudget(remainingOf(one)).reserve({ ...call, price, sharedBy: 1 }));
  return Math.min(...granted.map((one) => one?.max_output_tokens ?? 0));
}
