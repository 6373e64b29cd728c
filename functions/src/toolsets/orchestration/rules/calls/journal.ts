/**
 * The journal of a run's calls. Each attempt is recorded before its request and again when it has ended. If an
 * instance crashes and a step is executed again, ended attempts are replayed from the journal, and only the other
 * attempts are sent. This works because a step depends only on its input and on the outcomes of its calls. An ended
 * attempt is replayed only if the input is identical.
 */
import {
  type Amount,
  amountOf,
  BudgetExhaustedError,
  budgetKey,
  budgetRefusalOf,
  type Reservation,
  remainingOf,
} from '../../../../graph/rules/budget.ts';
import type { BudgetPorts } from '../../../../graph/rules/ports.ts';
import { ignoreStale } from '../../../../kernel/concurrency.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { type Clock, Service } from '../../../../kernel/ports.ts';
import type { HostedAgent, Price } from '../agents/model.ts';
import type { OrchestrationChange, OrchestrationPorts } from '../ports.ts';
import type { Attempt, CompletedAttempt, JournalEntry } from './attempt.ts';
import { costOf, estimatedTokens, MIN_OUTPUT_TOKENS, priceOf, RunBudget, spendingOf } from './budget.ts';

export interface PlannedAttempt
  extends Pick<JournalEntry, 'call' | 'number' | 'agent' | 'provider' | 'model' | 'waited' | 'max_output_tokens'> {
  readonly prompt: string;
  /** Time limit in milliseconds. */
  readonly time: number;
}

interface JournalScope {
  readonly runId: string;
  readonly step: string;
  /** Entries that earlier executions of the step have recorded. */
  readonly before: readonly JournalEntry[];
  readonly budgetKeys: readonly string[];
  readonly repeatable: boolean;
  readonly lease: {
    require(): void;
    startCall(changes: readonly OrchestrationChange[]): Promise<void>;
    defer(changes: readonly OrchestrationChange[]): void;
  };
  /** Whether the run has no other call at the same time, so that its next commit follows an answer immediately. */
  readonly isSole: boolean;
}

/** Thrown if a budget in US dollars applies to a call of an agent whose price is unknown. */
export class UnknownPriceError extends Error {
  override readonly name = 'UnknownPriceError';
}

export class StepJournal extends Service<OrchestrationPorts & { readonly scope: JournalScope }> {
  private readonly scope = this.ports.scope;
  /** Latest entry of each attempt, by the attempt's key and input hash. */
  private readonly entries = new Map(
    this.scope.before
      .toSorted((left, right) => left.repetition - right.repetition)
      .map((entry) => [keyOf(entry), entry]),
  );
  /** Attempts that were in progress when an instance crashed. Each one is charged at its maximum cost. */
  readonly interrupted: readonly Attempt[] = this.scope.before
    .filter(({ ending }) => ending === undefined)
    .map((entry) => chargeOf(entry, this.ports.hosted()));
  /** Attempts that this execution has started or replayed, by the attempt's key. */
  private readonly startedAttempts = new Map<string, { entry: JournalEntry; reservation?: Reservation | undefined }>();
  private replayable = [...this.entries.values()].filter(({ ending }) => ending).length;

  /** Recorded attempts that are not replayed, because this execution has made the same attempt with another input. */
  get outdated(): readonly Attempt[] {
    return [...this.entries.values()].flatMap((entry) => {
      const instead = this.startedAttempts.get(attemptKeyOf(entry))?.entry;
      const isOutdated = instead !== undefined && instead.input_hash !== entry.input_hash;
      return isOutdated && entry.ending !== undefined ? [entry.ending.attempt] : [];
    });
  }

  get recorded(): readonly Attempt[] {
    const ended = [...this.entries.values()].flatMap(({ ending }) => ending?.attempt ?? []);
    return [...ended, ...this.interrupted];
  }

  /** Returns the attempt as recorded in the journal, with its original cost, or else the given attempt. */
  noted(attempt: Attempt): Attempt {
    return this.startedAttempts.get(attemptKeyOf(attempt))?.entry.ending?.attempt ?? attempt;
  }

  /**
   * Records an attempt before its request is sent.
   * @returns the outcome of the same attempt if the journal contains it, so that no request must be sent; `cutTo` if
   * the budgets allow only that many output tokens; otherwise undefined
   * @throws BudgetExhaustedError if the attempt exceeds a budget that applies to the run
   * @throws UnknownPriceError if such a budget cannot cover the agent, because its price is unknown
   */
  async begin({
    prompt,
    time,
    ...asked
  }: PlannedAttempt): Promise<CompletedAttempt | { readonly cutTo: number } | undefined> {
    const { hashing, clock, hosted } = this.ports;
    const { runId, step, repeatable, lease, budgetKeys } = this.scope;
    // Stored hashes include null, because earlier versions hashed a system prompt at this position.
    const inputHash = hashing.sha256(JSON.stringify([null, prompt]));
    const before = this.entries.get(keyOf({ ...asked, input_hash: inputHash }));
    if (before?.ending !== undefined) {
      this.replayable--;
      this.startedAttempts.set(attemptKeyOf(before), { entry: before });
      return before.ending.settled;
    }
    // Replay ended attempts first, because their outcomes may make this attempt unnecessary.
    if (this.replayable > 0) await new Promise((resolve) => setTimeout(resolve, 0));
    if (!repeatable) this.requireNoneInDoubt(attemptKeyOf(asked));
    const repetition = before === undefined ? 0 : before.repetition + 1;
    const { call, number, agent } = asked;
    const name = JSON.stringify([step, call, agent, number, inputHash, repetition]);
    const id = hashing.sha256(name).slice(0, 20);
    const price = priceOf(hosted(), agent);
    const planned = {
      ...asked,
      id,
      step,
      repetition,
      input_hash: inputHash,
      input_tokens: estimatedTokens(prompt),
      started_at: clock.now(),
      ...(price && { price }),
    };
    const beginning = { ...planned, runId, price, time };
    const { reservation, maxOutputTokens } = await reservationFor(this.ports, budgetKeys, beginning);
    const entry = { ...planned, max_output_tokens: maxOutputTokens };
    const started: OrchestrationChange = { kind: 'startCall', runId, entry };
    await lease.startCall(reservation === undefined ? [started] : [started, { kind: 'reserve', reservation }]);
    this.startedAttempts.set(attemptKeyOf(entry), { entry, reservation });
    return maxOutputTokens < asked.max_output_tokens ? { cutTo: maxOutputTokens } : undefined;
  }

  /** Records the end and the actual cost of an attempt. */
  async end(attempt: Attempt, completed: CompletedAttempt): Promise<void> {
    const { clock, store } = this.ports;
    const { runId, lease, isSole } = this.scope;
    const { end, usage, cost_usd, outcome_unknown } = attempt;
    // Do not record an attempt that was aborted because the lease was lost. The next instance repeats the attempt.
    if (end === 'aborted') lease.require();
    const started = this.startedAttempts.get(attemptKeyOf(attempt));
    if (started === undefined) throw new Error('An attempt has ended, but its start is not in the journal.');
    const { reservation } = started;
    const entry = { ...started.entry, ending: { at: clock.now(), attempt, settled: completed } };
    const change = { kind: 'completeCall', runId, entry } as const;
    if (reservation !== undefined) {
      const isUnknown = outcome_unknown && usage.input_tokens + usage.output_tokens === 0;
      const spent = isUnknown ? reservation.amount : amountOf({ ...usage, cost_usd });
      // An expired reservation already counts in full, so it is not settled.
      const isSettled = await ignoreStale(store.commit([change, { kind: 'settle', reservation, spent }]));
      if (!isSettled) await store.commit([change]);
    } else if (isSole && end === 'answered') lease.defer([change]);
    else await store.commit([change]);
    this.entries.set(keyOf(entry), entry);
    this.startedAttempts.set(attemptKeyOf(entry), { entry });
  }

  /** @throws MusterError CONFLICT if an instance crashed during this attempt, even if its input was different */
  private requireNoneInDoubt(key: string): void {
    for (const entry of this.entries.values()) {
      if (entry.ending !== undefined || attemptKeyOf(entry) !== key) continue;
      const message = `The outcome of a call to ${entry.agent} is unknown, because the instance that made it crashed. The step is not repeatable, so the call was not retried.`;
      throw new MusterError('CONFLICT', message, { reason: 'OUTCOME_UNKNOWN' });
    }
  }
}

function attemptKeyOf({ call, agent, number }: Pick<Attempt, 'call' | 'agent' | 'number'>): string {
  return `${call}#${agent}#${number}`;
}

/** Returns the key of an attempt and its input, because the same attempt may have had another input before. */
function keyOf(entry: Pick<JournalEntry, 'call' | 'agent' | 'number' | 'input_hash'>): string {
  return `${attemptKeyOf(entry)}#${entry.input_hash}`;
}

/** Returns an attempt with its cost: the recorded cost, or its maximum cost if its end was not recorded. */
export function chargeOf(entry: JournalEntry, hosted: readonly HostedAgent[]): Attempt {
  if (entry.ending !== undefined) return entry.ending.attempt;
  const { call, number, agent, provider, model, waited, input_tokens, max_output_tokens } = entry;
  const identity = { call, number, agent, ...(provider !== undefined && { provider }), model, waited };
  const usage = { input_tokens, output_tokens: max_output_tokens };
  return {
    ...identity,
    ...spendingOf(usage, entry.price ?? priceOf(hosted, agent)),
    end: 'interrupted',
    reason: 'The instance that made the call stopped before the answer arrived. The call may have been billed.',
    milliseconds: 0,
    outcome_unknown: true,
  };
}

/** Time between the time limit of a call and the expiry of its reservation. */
const GRACE_MS = 60_000;

export interface StartingCall extends Pick<JournalEntry, 'id' | 'input_tokens' | 'max_output_tokens'> {
  readonly runId: string;
  readonly price: Price | undefined;
  readonly time: number;
}

/**
 * Computes a call's reservation from the current budgets. If the budgets do not cover the whole call, it gets fewer
 * output tokens. Calls that reserve at the same time may together exceed a budget.
 * @returns no reservation if none of the budgets has a limit
 * @throws BudgetExhaustedError if the budgets do not even cover a short answer
 * @throws UnknownPriceError if one of the budgets has a limit in US dollars, and the price is unknown
 */
export async function reservationFor(
  { budgets, clock }: BudgetPorts & { readonly clock: Clock },
  keys: readonly string[],
  { id, runId, time, price, ...call }: StartingCall,
): Promise<{ readonly reservation: Reservation | undefined; readonly maxOutputTokens: number }> {
  const limited = await budgets.limited(keys);
  if (limited.length === 0) return { reservation: undefined, maxOutputTokens: call.max_output_tokens };
  if (price === undefined && limited.some(({ budget }) => budget.cost_usd !== undefined))
    throw new UnknownPriceError('The price of the agent is unknown.');
  const amountWith = (outputTokens: number): Amount => {
    const usage = { input_tokens: call.input_tokens, output_tokens: outputTokens };
    return amountOf({ ...usage, cost_usd: costOf(usage, price) });
  };
  const granted = limited.map((one) => new RunBudget(remainingOf(one)).reserve({ ...call, price, sharedBy: 1 }));
  const limit = Math.min(...granted.map((one) => one?.max_output_tokens ?? 0));
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
