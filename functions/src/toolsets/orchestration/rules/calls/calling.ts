/**
 * One call: asks an agent, retries after transient failures, then asks the fallback agents. Every attempt stays
 * within the budget and the time limit, and is recorded before and after. Source: docs/semantics.md#orchestration.
 */

import type { FailureClass, HostedAgent, ModelAnswer, ModelFailure } from '../agents/model.ts';
import type { Attempt } from '../calls/attempt.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { OUTPUT_TOKENS } from '../workflows/definition.ts';
import { askModel, endOf, type Outcome, outcomeOf, recordedCost } from './asking.ts';
import { estimatedTokens, NO_USAGE, type RunBudget } from './budget.ts';
import type { StepJournal } from './journal.ts';

/** Where attempts are recorded and charged. */
export interface Accounts {
  readonly journal: Pick<StepJournal, 'begin' | 'end'>;
  readonly budget: RunBudget;
}

/** A candidate agent with its context window in tokens. */
interface Candidate {
  readonly agent: HostedAgent;
  readonly contextWindow: number;
}

export interface Call {
  /** Identifies the call within its step. */
  readonly key: string;
  /** Agents in order of preference; the later ones are fallbacks. */
  readonly candidates: readonly Candidate[];
  readonly prompt: string;
  readonly maxOutputTokens: number;
  /** Maximum attempts per agent. */
  readonly attempts: number;
  /** Time limit of one attempt, in milliseconds. */
  readonly timeout: number;
  /** No attempt starts or continues after this time. */
  readonly deadline: Date;
  /** Number of concurrent calls that share the budget, including this one. */
  readonly sharedBy: number;
  /** Whether the call may be retried if its outcome is unknown. */
  readonly repeatable: boolean;
  readonly signal: AbortSignal;
  /** Called with the answer before it is recorded. */
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

export interface AnsweredCall {
  readonly kind: 'answered';
  readonly agent: string;
  readonly answer: ModelAnswer;
  readonly attempts: readonly Attempt[];
  /** Warnings for the caller: fallbacks with their reasons, and truncated answers. */
  readonly warnings: readonly string[];
}

interface FailedCall {
  readonly kind: 'failed';
  /** Agent asked last; if none could be asked, the preferred agent. */
  readonly agent: string;
  readonly end: Exclude<Attempt['end'], 'answered'>;
  readonly reason: string;
  readonly attempts: readonly Attempt[];
}

export type CallResult = AnsweredCall | FailedCall;

/** Makes a call. Rejects only for journal errors and for a budget above the run's own that cannot cover it. */
export const call = (...made: ConstructorParameters<typeof Calling>) => new Calling(...made).run();

class Calling {
  private readonly request: Call;
  private readonly ports: OrchestrationPorts;
  private readonly accounts: Accounts;
  private readonly attempts: Attempt[] = [];
  private waiting: Candidate[];
  /** Output tokens to request. Grows after an answer that was truncated before any text. */
  private capacity: number;

  constructor(request: Call, ports: OrchestrationPorts, accounts: Accounts) {
    this.request = request;
    this.ports = ports;
    this.accounts = accounts;
    this.waiting = [...request.candidates];
    this.capacity = request.maxOutputTokens;
  }

  async run(): Promise<CallResult> {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      const answer = await this.askOne(next);
      if (answer !== undefined) return this.answered(next.agent.name, answer);
    }
    return this.failed();
  }

  /** @returns undefined if the agent did not answer */
  private async askOne(candidate: Candidate): Promise<ModelAnswer | undefined> {
    const { agent } = candidate;
    if (this.request.signal.aborted) return this.isCancelled(agent);
    const availability = agent.availability();
    if (!availability.available) return this.notAttempted(agent, 'unavailable', availability.reason);
    // The previous agent may have needed more than this one needs or accepts.
    this.capacity = Math.max(this.request.maxOutputTokens, Math.min(this.capacity, OUTPUT_TOKENS.usual));
    let waited = 0;
    for (let number = 1; ; number++) {
      const tried = await this.attempt(agent, number, waited);
      if (tried === undefined) return undefined;
      const { outcome } = tried;
      if ('answer' in outcome) return outcome.answer;
      const wait = outcome.ranOut
        ? this.addFallback(tried.maxOutputTokens, number)
        : this.react(outcome.failure, number, candidate);
      if (wait === undefined) return undefined;
      await this.ports.timer.wait(wait, this.request.signal);
      if (this.request.signal.aborted) return this.isCancelled(agent);
      waited = wait;
    }
  }

  /** @returns undefined if the attempt could not start */
  private async attempt(
    agent: HostedAgent,
    number: number,
    waited: number,
  ): Promise<{ readonly outcome: Outcome; readonly maxOutputTokens: number } | undefined> {
    const { clock, timer } = this.ports;
    const { journal, budget } = this.accounts;
    const { key, prompt, deadline, timeout, sharedBy } = this.request;
    const { name, model, price } = agent;
    const time = Math.min(timeout, deadline.getTime() - clock.now().getTime());
    if (time <= 0) return this.notAttempted(agent, 'timeout', 'The time limit of the call was reached.');
    const inputTokens = estimatedTokens(prompt);
    const reservation = budget.reserve({
      input_tokens: inputTokens,
      max_output_tokens: this.capacity,
      price,
      sharedBy,
    });
    if (reservation === undefined) {
      return this.notAttempted(agent, 'over_budget', `Budget exceeded: ${budget.describe()} left.`);
    }
    const identity = { call: key, number, agent: name, model, waited };
    const planned = { ...identity, prompt, time, max_output_tokens: reservation.max_output_tokens };
    const before = await journal.begin(planned);
    if (before !== undefined && !('cutTo' in before)) {
      // The execution that made the call has already recorded its cost.
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

  /** Records why an agent was not asked. */
  private notAttempted({ name, model }: HostedAgent, end: FailedCall['end'], reason: string): undefined {
    const identity = { call: this.request.key, number: 0, agent: name, model, waited: 0 };
    const nothing = { milliseconds: 0, usage: NO_USAGE, cost_usd: 0, outcome_unknown: false };
    this.attempts.push({ ...identity, end, reason, ...nothing });
  }

  /** @returns milliseconds to wait before retrying the same agent; undefined if it is not retried */
  private react(failure: ModelFailure, failed: number, { contextWindow }: Candidate): number | undefined {
    const { request, ports } = this;
    const reaction = request.repeatable || !failure.outcome_unknown ? this.reactionTo(failure.kind) : 'stop';
    if (reaction === 'stop') this.waiting = [];
    if (reaction === 'larger_context') {
      this.waiting = this.waiting.filter((other) => other.contextWindow > contextWindow);
    }
    if (reaction !== 'retry' || failed >= request.attempts) return undefined;
    const left = request.deadline.getTime() - ports.clock.now().getTime();
    return backoff(failed, failure.retry_after_ms, left, ports.randomness.integer(1001) / 1000);
  }

  /** Determines the reaction. After a widened limit, the model may reject that many output tokens. */
  private reactionTo(kind: FailureClass): (typeof REACTIONS)[FailureClass] {
    const wasWidened = this.capacity > this.request.maxOutputTokens;
    return kind === 'invalid_request' && wasWidened ? 'next_agent' : REACTIONS[kind];
  }

  /** After truncation before any text: retries with more tokens if the step's limit was the cause, else moves on. */
  private addFallback(had: number, failed: number): number | undefined {
    const isOwnLimit = had >= this.capacity && this.capacity < OUTPUT_TOKENS.most;
    this.capacity = Math.min(OUTPUT_TOKENS.most, Math.max(OUTPUT_TOKENS.usual, 2 * this.capacity));
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
      agent: decisive?.agent ?? this.request.candidates[0]?.agent.name ?? '',
      end: decisive === undefined || decisive.end === 'answered' ? 'unavailable' : decisive.end,
      reason: reasons.length === 0 ? 'No agent available.' : reasons.join(' '),
      attempts,
    };
  }
}

/**
 * `retry`: retry the same agent after a wait, then the next agent once its attempts are used up. `next_agent`: ask
 * the next agent immediately. `larger_context`: ask an agent with a larger context window, if available. `stop`: ask
 * no other agent, because the same request would fail there too or must not be repeated.
 */
export const REACTIONS = {
  overloaded: 'retry',
  rate_limited: 'retry',
  network: 'retry',
  timeout: 'retry',
  server_error: 'retry',
  // The connection broke in the middle of the answer.
  truncated: 'retry',
  malformed: 'next_agent',
  context_too_long: 'larger_context',
  authentication: 'stop',
  quota: 'stop',
  refused: 'stop',
  invalid_request: 'stop',
  aborted: 'stop',
} as const satisfies Record<FailureClass, string>;

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8000;

/** Maximum Retry-After that is respected; after a longer one, another agent is asked. */
export const MAX_WAIT_MS = 30_000;

/**
 * Returns the wait before the next attempt, in milliseconds; undefined if it is too long.
 * @param failed number of the agent's failures, at least 1
 * @param retryAfterMs minimum wait that the vendor asked for
 * @param left milliseconds until the deadline
 * @param random from 0 to 1: jitter for half of the backoff, so that simultaneous failures do not retry together
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
