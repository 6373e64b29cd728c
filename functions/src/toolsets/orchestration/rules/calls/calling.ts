/**
 * One call: an agent is asked, again after failures that pass, and after it the agents that may take its place.
 * Every attempt is within the budget and its time, and noted before and after. Source: docs/semantics.md#orchestration.
 */

import type { FailureClass, HostedAgent, ModelAnswer, ModelFailure } from '../agents/model.ts';
import type { Attempt } from '../calls/attempt.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { OUTPUT_TOKENS } from '../workflows/definition.ts';
import { askOnce, bookedFor, endOf, type Outcome, outcomeOf } from './asking.ts';
import { type Budget, estimatedTokens, NO_USAGE } from './budget.ts';
import type { StepJournal } from './journal.ts';

/** What attempts are noted in and booked to. */
export interface Accounts {
  readonly journal: Pick<StepJournal, 'begin' | 'end'>;
  readonly budget: Budget;
}

/** An agent that may be asked, with its context window in tokens. */
interface Candidate {
  readonly agent: HostedAgent;
  readonly contextWindow: number;
}

export interface Call {
  /** Names it within its step. */
  readonly key: string;
  /** Who is asked, first to last: those after the first only where the first cannot. */
  readonly candidates: readonly Candidate[];
  readonly prompt: string;
  readonly maxOutputTokens: number;
  /** Of one agent in all. */
  readonly attempts: number;
  /** Milliseconds that one attempt may take. */
  readonly timeout: number;
  /** After it nothing is begun, and nothing goes on. */
  readonly deadline: Date;
  /** Among how many calls at once, this one included, the budget is shared. */
  readonly sharedBy: number;
  /** Whether it may be made again where it is unknown what became of it. */
  readonly repeatable: boolean;
  readonly signal: AbortSignal;
  /** Is told of the answer before it is noted. */
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

export interface AnsweredCall {
  readonly kind: 'answered';
  readonly agent: string;
  readonly answer: ModelAnswer;
  readonly attempts: readonly Attempt[];
  /** What the caller should know: who answered in whose place, and why; that the answer was cut. */
  readonly warnings: readonly string[];
}

interface FailedCall {
  readonly kind: 'failed';
  /** Who was asked last; where nobody could be, who was to be asked first. */
  readonly agent: string;
  readonly end: Exclude<Attempt['end'], 'answered'>;
  readonly reason: string;
  readonly attempts: readonly Attempt[];
}

export type CallResult = AnsweredCall | FailedCall;

/** Never rejects for a failure of an agent, only for its journal, and for a budget of others that it does not fit into. */
export const call = (...made: ConstructorParameters<typeof Calling>) => new Calling(...made).run();

class Calling {
  private readonly request: Call;
  private readonly ports: OrchestrationPorts;
  private readonly accounts: Accounts;
  private readonly attempts: Attempt[] = [];
  private waiting: Candidate[];
  /** The output tokens to ask for: more after an answer that was cut before any text. */
  private room: number;

  constructor(request: Call, ports: OrchestrationPorts, accounts: Accounts) {
    this.request = request;
    this.ports = ports;
    this.accounts = accounts;
    this.waiting = [...request.candidates];
    this.room = request.maxOutputTokens;
  }

  async run(): Promise<CallResult> {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      const answer = await this.askOne(next);
      if (answer !== undefined) return this.answered(next.agent.name, answer);
    }
    return this.failed();
  }

  /** @returns undefined where it has not answered */
  private async askOne(candidate: Candidate): Promise<ModelAnswer | undefined> {
    const { agent } = candidate;
    if (this.request.signal.aborted) return this.calledOff(agent);
    const availability = agent.availability();
    if (!availability.available) return this.notMade(agent, 'unavailable', availability.reason);
    // The agent before may have needed more than this one does, or accepts.
    this.room = Math.max(this.request.maxOutputTokens, Math.min(this.room, OUTPUT_TOKENS.usual));
    let waited = 0;
    for (let number = 1; ; number++) {
      const tried = await this.attempt(agent, number, waited);
      if (tried === undefined) return undefined;
      const { outcome } = tried;
      if ('answer' in outcome) return outcome.answer;
      const wait = outcome.ranOut
        ? this.widen(tried.maxOutputTokens, number)
        : this.react(outcome.failure, number, candidate);
      if (wait === undefined) return undefined;
      await this.ports.timer.wait(wait, this.request.signal);
      if (this.request.signal.aborted) return this.calledOff(agent);
      waited = wait;
    }
  }

  /** @returns undefined where it could not be begun */
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
    if (time <= 0) return this.notMade(agent, 'timeout', 'The time for the whole call is over.');
    const inputTokens = estimatedTokens(prompt);
    const reservation = budget.reserve({
      input_tokens: inputTokens,
      max_output_tokens: this.room,
      price,
      sharedBy,
    });
    if (reservation === undefined) {
      return this.notMade(agent, 'over_budget', `The budget does not cover it: ${budget.describe()} left.`);
    }
    const identity = { call: key, number, agent: name, model, waited };
    const planned = { ...identity, prompt, time, max_output_tokens: reservation.max_output_tokens };
    const before = await journal.begin(planned);
    if (before !== undefined && !('cutTo' in before)) {
      // Booked already, by the execution that made it.
      reservation.complete(NO_USAGE);
      const outcome = outcomeOf(name, before, planned.max_output_tokens);
      const { usage = NO_USAGE } = 'answer' in before ? before.answer : before.failure;
      this.attempts.push({ ...identity, ...endOf(outcome), milliseconds: 0, usage, cost_usd: 0 });
      return { outcome, maxOutputTokens: planned.max_output_tokens };
    }
    const maxOutputTokens = before?.cutTo ?? planned.max_output_tokens;
    const asked = clock.now().getTime();
    const question = { prompt, maxOutputTokens };
    const { completed, received } = await askOnce(agent, question, time, { ...this.request, timer });
    const milliseconds = clock.now().getTime() - asked;
    const outcome = outcomeOf(name, completed, maxOutputTokens);
    const reserved = { input_tokens: inputTokens, output_tokens: maxOutputTokens };
    const spending = reservation.complete(bookedFor(outcome, received, reserved));
    const attempt = { ...identity, ...endOf(outcome), milliseconds, ...spending };
    await journal.end(attempt, completed);
    this.attempts.push(attempt);
    return { outcome, maxOutputTokens };
  }

  /** Notes an agent that was not asked, and why. */
  private notMade({ name, model }: HostedAgent, end: FailedCall['end'], reason: string): undefined {
    const identity = { call: this.request.key, number: 0, agent: name, model, waited: 0 };
    const nothing = { milliseconds: 0, usage: NO_USAGE, cost_usd: 0, outcome_unknown: false };
    this.attempts.push({ ...identity, end, reason, ...nothing });
  }

  /** @returns how long to wait before the same agent is asked again; undefined where it is not */
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

  /** A model may refuse as many output tokens as it was offered after an answer that was cut. */
  private reactionTo(kind: FailureClass): (typeof REACTIONS)[FailureClass] {
    const wasWidened = this.room > this.request.maxOutputTokens;
    return kind === 'invalid_request' && wasWidened ? 'next_agent' : REACTIONS[kind];
  }

  /** An answer cut before any text by the step's limit: the same agent again with more room; by the budget: the next agent. */
  private widen(had: number, failed: number): number | undefined {
    const isOwnLimit = had >= this.room && this.room < OUTPUT_TOKENS.most;
    this.room = Math.min(OUTPUT_TOKENS.most, Math.max(OUTPUT_TOKENS.usual, 2 * this.room));
    return isOwnLimit && failed < this.request.attempts ? 0 : undefined;
  }

  private calledOff(agent: HostedAgent): undefined {
    this.waiting = [];
    return this.notMade(agent, 'aborted', 'It was called off.');
  }

  private answered(agent: string, answer: ModelAnswer): AnsweredCall {
    const { attempts } = this;
    const others = attempts.filter((attempt) => attempt.agent !== agent);
    const warnings = [...new Map(others.map((attempt) => [attempt.agent, attempt])).values()].map(
      (attempt) => `${agent} answered in place of ${attempt.agent} (${attempt.end}): ${attempt.reason ?? ''}`,
    );
    if (!answer.complete) warnings.push(`The answer of ${agent} was cut at its limit of output tokens.`);
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
      reason: reasons.length === 0 ? 'There is no agent to ask.' : reasons.join(' '),
      attempts,
    };
  }
}

/**
 * `retry`: ask the same agent again, after a wait; when its attempts are used up, the next agent. `next_agent`: ask
 * that at once. `larger_context`: ask an agent with a larger context window, if there is one. `stop`: ask no other
 * agent, since the same request would fail there too, or must not be repeated.
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

const FIRST_BACKOFF_MILLISECONDS = 500;
const LONGEST_BACKOFF_MILLISECONDS = 8000;

/** The longest Retry-After that is waited for; a longer one is a reason to ask somebody else. */
export const LONGEST_WAIT_MILLISECONDS = 30_000;

/**
 * How long to wait before the next attempt, or undefined where that is too long.
 * @param failed how often the agent has failed, at least 1
 * @param retryAfterMs what the vendor asked for: never less is waited
 * @param left milliseconds until the deadline
 * @param chance from 0 to 1: half of the backoff is spread, so that those who failed together do not return together
 */
export function backoff(
  failed: number,
  retryAfterMs: number | undefined,
  left: number,
  chance: number,
): number | undefined {
  const full = Math.min(LONGEST_BACKOFF_MILLISECONDS, FIRST_BACKOFF_MILLISECONDS * 2 ** (failed - 1));
  const wait = Math.max(retryAfterMs ?? 0, Math.round((full / 2) * (1 + chance)));
  return wait < left && wait <= LONGEST_WAIT_MILLISECONDS ? wait : undefined;
}
