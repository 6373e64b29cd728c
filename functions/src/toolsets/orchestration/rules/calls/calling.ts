/**
 * One call: asks an agent, retries after transient failures, then asks the fallback agents. Each attempt respects the
 * budget and the time limit, and is recorded at its start and its end. Source: docs/semantics.md#orchestration.
 */
import { Service } from '../../../../kernel/ports.ts';
import type { FailureClass, HostedAgent, ModelAnswer, ModelFailure } from '../agents/model.ts';
import type { Attempt } from '../calls/attempt.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { OUTPUT_TOKENS } from '../workflows/definition.ts';
import { askModel, endOf, outcomeOf, recordedCost } from './asking.ts';
import { estimatedTokens, MIN_OUTPUT_TOKENS, NO_USAGE, noPrice, type RunBudget } from './budget.ts';
import { type StepJournal, UnknownPriceError } from './journal.ts';

export interface Accounts {
  readonly journal: Pick<StepJournal, 'begin' | 'end'>;
  readonly budget: RunBudget;
  /** Providers that have refused the deployment's key or quota during the run. They are not asked again. */
  readonly refusedProviders: Set<string>;
}

export interface Call {
  readonly key: string;
  /** In order of preference: the agent to ask first, then its fallback agents. */
  readonly candidates: readonly HostedAgent[];
  readonly prompt: string;
  readonly maxOutputTokens: number;
  /** Maximum number of attempts per agent. */
  readonly attempts: number;
  /** Time limit of each attempt, in milliseconds. */
  readonly timeout: number;
  /** Time at which running attempts are stopped. After it, no attempt starts. */
  readonly deadline: Date;
  /** Number of concurrent calls that share the run's budget, including this one. */
  readonly sharedBy: number;
  /** Whether a request with an unknown outcome may be repeated. */
  readonly repeatable: boolean;
  readonly signal: AbortSignal;
  /** Called with the answer before the journal records it. */
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

export interface AnsweredCall {
  readonly kind: 'answered';
  readonly agent: string;
  readonly answer: ModelAnswer;
  readonly attempts: readonly Attempt[];
  /** Warnings for the caller: which fallback agent answered and why, and whether the answer was truncated. */
  readonly warnings: readonly string[];
}

interface FailedCall {
  readonly kind: 'failed';
  /** The agent asked last; the preferred agent if no agent could be asked. */
  readonly agent: string;
  readonly end: Exclude<Attempt['end'], 'answered'>;
  readonly reason: string;
  readonly attempts: readonly Attempt[];
}

export type CallResult = AnsweredCall | FailedCall;

/** Makes a call. Rejects only if the journal fails, or if a task's or workspace's budget cannot cover the call. */
export function call(request: Call, ports: OrchestrationPorts, accounts: Accounts): Promise<CallResult> {
  return new Calling({ ...ports, request, accounts }).run();
}

class Calling extends Service<OrchestrationPorts & { readonly request: Call; readonly accounts: Accounts }> {
  private readonly request = this.ports.request;
  private readonly attempts: Attempt[] = [];
  private waiting = [...this.request.candidates];
  /** Output tokens to request. After an answer that was truncated before any text, the number is increased. */
  private capacity = this.request.maxOutputTokens;

  async run(): Promise<CallResult> {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      const answer = await this.askOne(next);
      if (answer !== undefined) return this.answered(next.name, answer);
    }
    return this.failed();
  }

  private async askOne(agent: HostedAgent): Promise<ModelAnswer | undefined> {
    if (this.request.signal.aborted) return this.isCancelled(agent);
    const availability = agent.availability();
    if (!availability.available) return this.notAttempted(agent, 'unavailable', availability.reason);
    if (this.ports.accounts.refusedProviders.has(agent.provider))
      return this.notAttempted(agent, 'unavailable', `${agent.provider} has refused this deployment's key or quota.`);
    // The increased limit of the previous agent may be more than this agent needs or accepts.
    this.capacity = Math.max(this.request.maxOutputTokens, Math.min(this.capacity, OUTPUT_TOKENS.default));
    let waited = 0;
    for (let number = 1; ; number++) {
      const tried = await this.attempt(agent, number, waited);
      if (tried === undefined) return undefined;
      const { outcome } = tried;
      if ('answer' in outcome) return outcome.answer;
      const wait = outcome.ranOut
        ? this.raiseOutputLimit(tried.maxOutputTokens, number)
        : this.react(outcome.failure, number, agent);
      if (wait === undefined) return undefined;
      await this.ports.timer.wait(wait, this.request.signal);
      if (this.request.signal.aborted) return this.isCancelled(agent);
      waited = wait;
    }
  }

  private async attempt(agent: HostedAgent, number: number, waited: number) {
    const { clock, timer } = this.ports;
    const { journal, budget } = this.ports.accounts;
    const { key, prompt, deadline, timeout, sharedBy } = this.request;
    const { name, provider, model, price } = agent;
    const time = Math.min(timeout, deadline.getTime() - clock.now().getTime());
    if (time <= 0) return this.notAttempted(agent, 'timeout', 'The time limit of the call was reached.');
    const inputTokens = estimatedTokens(prompt);
    const reservation = budget.reserve({
      input_tokens: inputTokens,
      max_output_tokens: this.outputFor(agent, inputTokens),
      price,
      sharedBy,
    });
    if (price === undefined && budget.isInDollars) return this.notAttempted(agent, 'over_budget', noPrice(name));
    if (reservation === undefined)
      return this.notAttempted(agent, 'over_budget', `Budget exceeded: ${budget.describe()} left.`);
    const identity = { call: key, number, agent: name, provider, model, waited };
    const planned = { ...identity, prompt, time, max_output_tokens: reservation.max_output_tokens };
    const before = await journal.begin(planned).catch((error: unknown) => {
      if (!(error instanceof UnknownPriceError)) throw error;
      reservation.complete(NO_USAGE);
      return 'unpriced' as const;
    });
    if (before === 'unpriced') return this.notAttempted(agent, 'over_budget', noPrice(name));
    if (before !== undefined && !('cutTo' in before)) {
      // The outcome is from the journal, and the execution that sent the request has already recorded its cost.
      reservation.complete(NO_USAGE);
      const outcome = outcomeOf(name, before, planned.max_output_tokens);
      const { usage = NO_USAGE } = 'answer' in before ? before.answer : before.failure;
      this.attempts.push({ ...identity, ...endOf(outcome), milliseconds: 0, usage, cost_usd: 0 });
      return { outcome, maxOutputTokens: planned.max_output_tokens };
    }
    const maxOutputTokens = before?.cutTo ?? planned.max_output_tokens;
    const asked = clock.now().getTime();
    const question = { prompt, maxOutputTokens };
    const { completed, received } = await askModel(agent, question, time, { ...this.request, timer });
    const milliseconds = clock.now().getTime() - asked;
    const outcome = outcomeOf(name, completed, maxOutputTokens);
    const reserved = { input_tokens: inputTokens, output_tokens: maxOutputTokens };
    const spending = reservation.complete(recordedCost(outcome, received, reserved));
    const attempt = { ...identity, ...endOf(outcome), milliseconds, ...spending };
    await journal.end(attempt, completed);
    this.attempts.push(attempt);
    return { outcome, maxOutputTokens };
  }

  /** Returns the output tokens to request: as many as the model accepts, and as its window has room for. */
  private outputFor({ maxOutputTokens, capabilities }: HostedAgent, inputTokens: number): number {
    const floor = Math.min(MIN_OUTPUT_TOKENS, this.capacity, maxOutputTokens);
    return Math.min(this.capacity, maxOutputTokens, Math.max(floor, capabilities.contextWindow - inputTokens));
  }

  private notAttempted({ name, provider, model }: HostedAgent, end: FailedCall['end'], reason: string): undefined {
    const identity = { call: this.request.key, number: 0, agent: name, provider, model, waited: 0 };
    const nothing = { milliseconds: 0, usage: NO_USAGE, cost_usd: 0, outcome_unknown: false };
    this.attempts.push({ ...identity, end, reason, ...nothing });
  }

  /** @returns milliseconds to wait before the same agent is asked again; undefined if it must not be asked again */
  private react(failure: ModelFailure, failed: number, { provider, capabilities }: HostedAgent): number | undefined {
    const { request, ports } = this;
    const isFinal = failure.outcome_unknown && !request.repeatable;
    // If this call increased the output limit, that limit may have made the request invalid.
    const isWidened = failure.kind === 'invalid_request' && this.capacity > request.maxOutputTokens;
    const reaction = isFinal ? 'stop' : isWidened ? 'next_agent' : REACTIONS[failure.kind];
    if (reaction === 'stop') this.waiting = [];
    if (reaction === 'larger_context')
      this.waiting = this.waiting.filter((one) => one.capabilities.contextWindow > capabilities.contextWindow);
    if (reaction === 'other_provider') this.ports.accounts.refusedProviders.add(provider);
    if (reaction !== 'retry' || failed >= request.attempts) return undefined;
    const left = request.deadline.getTime() - ports.clock.now().getTime();
    return backoff(failed, failure.retry_after_ms, left, ports.randomness.integer(1001) / 1000);
  }

  /** Called after an answer without text. Retries with more output tokens if the limit was too low, else gives up. */
  private raiseOutputLimit(had: number, failed: number): number | undefined {
    const isOwnLimit = had >= this.capacity && this.capacity < OUTPUT_TOKENS.max;
    this.capacity = Math.min(OUTPUT_TOKENS.max, Math.max(OUTPUT_TOKENS.default, 2 * this.capacity));
    return isOwnLimit && failed < this.request.attempts ? 0 : undefined;
  }

  private isCancelled(agent: HostedAgent): undefined {
    this.waiting = [];
    return this.notAttempted(agent, 'aborted', 'The request was cancelled.');
  }

  private answered(agent: string, answer: ModelAnswer): AnsweredCall {
    const { attempts } = this;
    const others = attempts.filter((attempt) => attempt.agent !== agent);
    const warnings = [...new Map(others.map((attempt) => [attempt.agent, attempt])).values()].map(
      (attempt) => `${agent} answered instead of ${attempt.agent} (${attempt.end}): ${attempt.reason ?? ''}`,
    );
    if (!answer.complete) warnings.push(`The answer of ${agent} was truncated at the output token limit.`);
    return { kind: 'answered', agent, answer, attempts, warnings };
  }

  private failed(): FailedCall {
    const { attempts } = this;
    const decisive = attempts.findLast(({ end }) => end !== 'unavailable') ?? attempts[0];
    const unavailable = attempts.filter((attempt) => attempt !== decisive && attempt.end === 'unavailable');
    const reasons = [decisive, ...unavailable].flatMap((attempt) => attempt?.reason ?? []);
    return {
      kind: 'failed',
      agent: decisive?.agent ?? this.request.candidates[0]?.name ?? '',
      end: decisive === undefined || decisive.end === 'answered' ? 'unavailable' : decisive.end,
      reason: reasons.length === 0 ? 'No agent available.' : reasons.join(' '),
      attempts,
    };
  }
}

/**
 * `retry`: ask the same agent again after a wait; if its attempts are used up, ask the next agent. `next_agent`: ask
 * the next agent immediately. `other_provider`: ask the next agent of another provider. `larger_context`: ask the next agent that has a larger context window, if any. `stop`:
 * ask no agent, because the request would fail there too or must not be repeated.
 */
export const REACTIONS = {
  overloaded: 'retry',
  rate_limited: 'retry',
  network: 'retry',
  timeout: 'retry',
  server_error: 'retry',
  // The connection was interrupted during the answer.
  truncated: 'retry',
  malformed: 'next_agent',
  context_too_long: 'larger_context',
  authentication: 'other_provider',
  quota: 'other_provider',
  refused: 'stop',
  invalid_request: 'stop',
  aborted: 'stop',
} as const satisfies Record<FailureClass, string>;

/** Returns whether an attempt ended because the provider has refused the deployment's key or quota. */
export function isProviderRefusal(end: Attempt['end']): boolean {
  return Object.entries(REACTIONS).some(([kind, reaction]) => kind === end && reaction === 'other_provider');
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8000;

/** Longest wait that a vendor may request with Retry-After. After a longer one, the next agent is asked. */
export const MAX_WAIT_MS = 30_000;

/**
 * Returns the wait in milliseconds before the next attempt; undefined if the wait would be too long.
 * @param failed number of failed attempts of this agent, at least 1
 * @param retryAfterMs minimum wait that the vendor requested
 * @param left milliseconds until the deadline
 * @param random from 0 to 1; varies half of the wait, so that calls that failed together do not retry together
 */
export function backoff(
  failed: number,
  retryAfterMs: number | undefined,
  left: number,
  random: number,
): number | undefined {
  const full = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failed - 1));
  const wait = Math.max(retryAfterMs ?? 0, Math.round((full / 2) * (1 + random)));
  return wait < left && wait <= MAX_WAIT_MS ? wait : undefined;
}
