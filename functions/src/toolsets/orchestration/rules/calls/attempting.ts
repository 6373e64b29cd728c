/** Makes one attempt: within its budget and its time, noted before and after. */
import { utf8Length } from '../../../../kernel/json.ts';
import type { Timer } from '../../../../kernel/ports.ts';
import type { Attempt } from '../../store/runDocument.ts';
import {
  FAILURE_CLASSES,
  type HostedAgent,
  MAX_ANSWER_BYTES,
  type ModelAnswer,
  ModelFailure,
  type OrchestrationPorts,
  type Usage,
} from '../ports.ts';
import type { StepJournal } from '../runs/journal.ts';
import { type Budget, estimatedTokens, NO_USAGE, type Reservation } from './budget.ts';

/** What attempts are noted in and booked to. */
export interface Accounts {
  readonly journal: Pick<StepJournal, 'begin' | 'end'>;
  readonly budget: Budget;
}

/** What all attempts of a call have in common. */
export interface AttemptTerms {
  readonly key: string;
  readonly system?: string;
  readonly prompt: string;
  readonly maxOutputTokens: number;
  readonly timeout: number;
  readonly deadline: Date;
  readonly sharedBy: number;
  readonly signal: AbortSignal;
  /** Is told of the answer before it is noted. */
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

interface Made {
  readonly attempt: Attempt;
  /** Absent where it could not be begun. */
  readonly settled?: CompletedAttempt;
}

export async function makeAttempt(
  terms: AttemptTerms,
  agent: HostedAgent,
  count: { readonly number: number; readonly waited: number },
  { clock, timer }: OrchestrationPorts,
  { journal, budget }: Accounts,
): Promise<Made> {
  const time = Math.min(terms.timeout, terms.deadline.getTime() - clock.now().getTime());
  if (time <= 0) return notMade(terms, agent, 'timeout', 'The time for the whole call is over.');
  const reservation = reserve(terms, agent, budget);
  if (reservation === undefined) {
    const reason = `The budget does not cover it: ${budget.describe()} left.`;
    return notMade(terms, agent, 'over_budget', reason);
  }
  const planned = plan(terms, agent, count, reservation);
  const before = await journal.begin(planned);
  if (before !== undefined) {
    // Booked already, by the execution that made it.
    reservation.settle(NO_USAGE);
    const spending = { usage: usageOf(before) ?? NO_USAGE, costUsd: 0 };
    return { attempt: ended(planned, before, { milliseconds: 0, ...spending }), settled: before };
  }
  const began = clock.now().getTime();
  const settled = await ask(agent, planned, { ...terms, time }, timer);
  const milliseconds = clock.now().getTime() - began;
  const attempt = ended(planned, settled, { milliseconds, ...reservation.settle(billed(settled)) });
  await journal.end(attempt, settled);
  return { attempt, settled };
}

/** An agent that was not asked, and why. */
export function notMade(
  { key }: Pick<AttemptTerms, 'key'>,
  { name, model }: HostedAgent,
  end: Exclude<Attempt['end'], 'answered'>,
  reason: string,
): { readonly attempt: Attempt } {
  const nothing = { milliseconds: 0, usage: NO_USAGE, costUsd: 0, outcomeUnknown: false };
  return { attempt: { call: key, number: 0, agent: name, model, waited: 0, end, reason, ...nothing } };
}

function reserve(terms: AttemptTerms, { price }: HostedAgent, budget: Budget): Reservation | undefined {
  const bytes = utf8Length(terms.prompt) + utf8Length(terms.system ?? '');
  const { maxOutputTokens, sharedBy } = terms;
  return budget.reserve({ inputTokens: estimatedTokens(bytes), maxOutputTokens, price, sharedBy });
}

function plan(
  { key, prompt, system }: AttemptTerms,
  { name, model }: HostedAgent,
  count: { readonly number: number; readonly waited: number },
  { maxOutputTokens }: Reservation,
): PlannedAttempt {
  return { call: key, ...count, agent: name, model, prompt, system, maxOutputTokens };
}

/** Asks within a time, whatever the agent does with its signal. */
async function ask(
  agent: HostedAgent,
  { prompt, system, maxOutputTokens }: PlannedAttempt,
  within: Pick<AttemptTerms, 'signal' | 'onAnswer'> & { readonly time: number },
  timer: Timer,
): Promise<CompletedAttempt> {
  const timeIsUp = new AbortController();
  const answered = new AbortController();
  const request = { prompt, maxOutputTokens, ...(system !== undefined && { system }) };
  const signal = AbortSignal.any([within.signal, timeIsUp.signal]);
  const asking = agent.ask(request, { signal }).then(
    (answer): CompletedAttempt => judged(agent.name, answer),
    (error: unknown): CompletedAttempt => ({ failure: failureOf(error) }),
  );
  const timing = timer
    .wait(within.time, AbortSignal.any([within.signal, answered.signal]))
    .then((): CompletedAttempt => ({ failure: endedEarly(agent.name, within) }));
  try {
    const settled = await Promise.race([asking, timing]);
    if ('answer' in settled) within.onAnswer?.(settled.answer);
    return settled;
  } finally {
    timeIsUp.abort();
    answered.abort();
  }
}

/** An answer that cannot be noted is none: it is paid for, and was not to be asked for again and again. */
function judged(agent: string, answer: ModelAnswer): CompletedAttempt {
  const bytes = utf8Length(answer.text);
  if (bytes <= MAX_ANSWER_BYTES) return { answer };
  const message = `${agent} answered with ${bytes} bytes; an answer may have ${MAX_ANSWER_BYTES}.`;
  return { failure: new ModelFailure('malformed', message, { usage: answer.usage }) };
}

function endedEarly(
  agent: string,
  { time, signal }: { readonly time: number; readonly signal: AbortSignal },
): ModelFailure {
  const unknown = { outcomeUnknown: true };
  return signal.aborted
    ? new ModelFailure('aborted', `The request to ${agent} was called off.`, unknown)
    : new ModelFailure('timeout', `${agent} did not answer within ${time} milliseconds.`, unknown);
}

function ended(
  { call, number, agent, model, waited }: PlannedAttempt,
  settled: CompletedAttempt,
  cost: Pick<Attempt, 'milliseconds' | 'usage' | 'costUsd'>,
): Attempt {
  const made = { call, number, agent, model, waited, ...cost };
  if ('answer' in settled) return { ...made, end: 'answered', outcomeUnknown: false };
  const { kind, message, outcomeUnknown } = settled.failure;
  return { ...made, end: kind, reason: message, outcomeUnknown };
}

function usageOf(settled: CompletedAttempt): Usage | undefined {
  return 'answer' in settled ? settled.answer.usage : settled.failure.usage;
}

/** What the vendor counted; undefined where it may have counted anything. */
function billed(settled: CompletedAttempt): Usage | undefined {
  const usage = usageOf(settled);
  if (usage !== undefined || 'answer' in settled) return usage;
  return settled.failure.outcomeUnknown ? undefined : NO_USAGE;
}

function failureOf(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  throw error;
}

export type AttemptIdentity = Pick<Attempt, 'call' | 'number' | 'agent' | 'model' | 'waited'>;

export interface PlannedAttempt extends AttemptIdentity {
  readonly prompt: string;
  readonly system: string | undefined;
  readonly maxOutputTokens: number;
}

/**
 * `answered`, or why not; `unavailable` and `over_budget` were never asked, and of an `interrupted` one nobody knows,
 * since the instance that made it died.
 */
export const ATTEMPT_ENDS = [
  'answered',
  'unavailable',
  'over_budget',
  'interrupted',
  ...FAILURE_CLASSES,
] as const;

export type CompletedAttempt = { readonly answer: ModelAnswer } | { readonly failure: ModelFailure };
