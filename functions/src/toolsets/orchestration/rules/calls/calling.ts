/**
 * One call: an agent is asked, again after failures that pass, and after it the agents that may take its place.
 * Every attempt is within the budget and its time, and noted before and after. Source: docs/semantics.md#orchestration.
 */
import { utf8Length } from '../../../../kernel/json.ts';
import type { Attempt } from '../../store/runDocument.ts';
import {
  type HostedAgent,
  MAX_ANSWER_BYTES,
  type ModelAnswer,
  ModelFailure,
  type OrchestrationPorts,
} from '../ports.ts';
import type { CompletedAttempt, PlannedAttempt, StepJournal } from '../runs/journal.ts';
import { type Budget, estimatedTokens, NO_USAGE } from './budget.ts';
import { backoff, reactionTo } from './reactions.ts';

/** What attempts are noted in and booked to. */
export interface Accounts {
  readonly journal: Pick<StepJournal, 'begin' | 'end'>;
  readonly budget: Budget;
}

/** An agent that may be asked. */
interface Candidate {
  readonly agent: HostedAgent;
  /** In tokens. */
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

/** Never rejects for a failure of an agent, only for its journal. */
export function call(request: Call, ports: OrchestrationPorts, accounts: Accounts): Promise<CallResult> {
  return new Calling(request, ports, accounts).run();
}

class Calling {
  private readonly request: Call;
  private readonly ports: OrchestrationPorts;
  private readonly accounts: Accounts;
  private readonly attempts: Attempt[] = [];
  private waiting: readonly Candidate[];

  constructor(request: Call, ports: OrchestrationPorts, accounts: Accounts) {
    this.request = request;
    this.ports = ports;
    this.accounts = accounts;
    this.waiting = request.candidates;
  }

  async run(): Promise<CallResult> {
    for (let next = this.take(); next !== undefined; next = this.take()) {
      const answer = await this.askOne(next);
      if (answer !== undefined) return this.answered(next.agent.name, answer);
    }
    return this.failed();
  }

  private take(): Candidate | undefined {
    const [next, ...others] = this.waiting;
    this.waiting = others;
    return next;
  }

  /** @returns undefined where it has not answered */
  private async askOne(candidate: Candidate): Promise<ModelAnswer | undefined> {
    const { agent } = candidate;
    if (this.request.signal.aborted) return this.calledOff(agent);
    const availability = agent.availability();
    if (!availability.available) return this.notMade(agent, 'unavailable', availability.reason);
    let waited = 0;
    for (let number = 1; ; number++) {
      const completed = await this.attempt(agent, number, waited);
      if (completed === undefined) return undefined;
      if ('answer' in completed) return completed.answer;
      const wait = this.react(completed.failure, number, candidate);
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
  ): Promise<CompletedAttempt | undefined> {
    const { clock } = this.ports;
    const { journal, budget } = this.accounts;
    const { key, prompt, deadline, timeout, maxOutputTokens, sharedBy } = this.request;
    const { name, model, price } = agent;
    const began = clock.now().getTime();
    const time = Math.min(timeout, deadline.getTime() - began);
    if (time <= 0) return this.notMade(agent, 'timeout', 'The time for the whole call is over.');
    const inputTokens = estimatedTokens(utf8Length(prompt));
    const reservation = budget.reserve({ inputTokens, maxOutputTokens, price, sharedBy });
    if (reservation === undefined) {
      const reason = `The budget does not cover it: ${budget.describe()} left.`;
      return this.notMade(agent, 'over_budget', reason);
    }
    const identity = { call: key, number, agent: name, model, waited };
    const planned = { ...identity, prompt, maxOutputTokens: reservation.maxOutputTokens };
    const before = await journal.begin(planned);
    if (before !== undefined) {
      // Booked already, by the execution that made it.
      reservation.settle(NO_USAGE);
      const usage = usageOf(before) ?? NO_USAGE;
      this.attempts.push({ ...identity, ...endOf(before), milliseconds: 0, usage, costUsd: 0 });
      return before;
    }
    const asked = clock.now().getTime();
    const completed = await this.ask(agent, planned, time);
    const milliseconds = clock.now().getTime() - asked;
    const spending = reservation.settle(billed(completed));
    const attempt = { ...identity, ...endOf(completed), milliseconds, ...spending };
    await journal.end(attempt, completed);
    this.attempts.push(attempt);
    return completed;
  }

  /** Asks within a time, whatever the agent does with its signal. */
  private async ask(
    agent: HostedAgent,
    { prompt, maxOutputTokens }: PlannedAttempt,
    time: number,
  ): Promise<CompletedAttempt> {
    const { signal, onAnswer } = this.request;
    const timeIsUp = new AbortController();
    const answered = new AbortController();
    const within = { signal: AbortSignal.any([signal, timeIsUp.signal]) };
    const asking = agent.ask({ prompt, maxOutputTokens }, within).then(
      (answer) => judged(agent.name, answer),
      (error: unknown): CompletedAttempt => {
        if (error instanceof ModelFailure) return { failure: error };
        throw error;
      },
    );
    const timing = this.ports.timer
      .wait(time, AbortSignal.any([signal, answered.signal]))
      .then((): CompletedAttempt => {
        const [kind, message] = signal.aborted
          ? (['aborted', `The request to ${agent.name} was called off.`] as const)
          : (['timeout', `${agent.name} did not answer within ${time} milliseconds.`] as const);
        return { failure: new ModelFailure(kind, message, { outcomeUnknown: true }) };
      });
    try {
      const completed = await Promise.race([asking, timing]);
      if ('answer' in completed) onAnswer?.(completed.answer);
      return completed;
    } finally {
      timeIsUp.abort();
      answered.abort();
    }
  }

  /** Notes an agent that was not asked, and why. */
  private notMade(
    { name, model }: HostedAgent,
    end: Exclude<Attempt['end'], 'answered'>,
    reason: string,
  ): undefined {
    const nothing = { milliseconds: 0, usage: NO_USAGE, costUsd: 0, outcomeUnknown: false };
    this.attempts.push({
      call: this.request.key,
      number: 0,
      agent: name,
      model,
      waited: 0,
      end,
      reason,
      ...nothing,
    });
  }

  /** @returns how long to wait before the same agent is asked again; undefined where it is not */
  private react(failure: ModelFailure, failed: number, { contextWindow }: Candidate): number | undefined {
    const { request, ports } = this;
    const mayBeMadeAgain = request.repeatable || !failure.outcomeUnknown;
    const reaction = mayBeMadeAgain ? reactionTo(failure.kind) : 'stop';
    if (reaction === 'stop') this.waiting = [];
    if (reaction === 'larger_context') {
      this.waiting = this.waiting.filter((other) => other.contextWindow > contextWindow);
    }
    if (reaction !== 'retry' || failed >= request.attempts) return undefined;
    const left = request.deadline.getTime() - ports.clock.now().getTime();
    const chance = ports.randomness.integer(1001) / 1000;
    return backoff(failed, failure.retryAfterMs, left, chance);
  }

  private calledOff(agent: HostedAgent): undefined {
    this.waiting = [];
    return this.notMade(agent, 'aborted', 'It was called off.');
  }

  private answered(agent: string, answer: ModelAnswer): AnsweredCall {
    const { attempts } = this;
    const replaced = new Map(
      attempts.filter((attempt) => attempt.agent !== agent).map((attempt) => [attempt.agent, attempt]),
    );
    const warnings = [...replaced.values()].map(
      (attempt) => `${agent} answered in place of ${attempt.agent} (${attempt.end}): ${attempt.reason ?? ''}`,
    );
    if (!answer.complete) warnings.push(`The answer of ${agent} was cut at its limit of output tokens.`);
    return { kind: 'answered', agent, answer, attempts, warnings };
  }

  private failed(): FailedCall {
    const { attempts } = this;
    const decisive = attempts.findLast(({ end }) => end !== 'unavailable') ?? attempts[0];
    const [first] = this.request.candidates;
    const unavailable = attempts.filter((attempt) => attempt !== decisive && attempt.end === 'unavailable');
    const reasons = [decisive, ...unavailable].flatMap((attempt) => attempt?.reason ?? []);
    return {
      kind: 'failed',
      agent: decisive?.agent ?? first?.agent.name ?? '',
      end: decisive === undefined || decisive.end === 'answered' ? 'unavailable' : decisive.end,
      reason: reasons.length === 0 ? 'There is no agent to ask.' : reasons.join(' '),
      attempts,
    };
  }
}

/** An answer that cannot be noted is none: it is paid for, and was not to be asked for again and again. */
function judged(agent: string, answer: ModelAnswer): CompletedAttempt {
  const bytes = utf8Length(answer.text);
  if (bytes <= MAX_ANSWER_BYTES) return { answer };
  const message = `${agent} answered with ${bytes} bytes; an answer may have ${MAX_ANSWER_BYTES}.`;
  return { failure: new ModelFailure('malformed', message, { usage: answer.usage }) };
}

function endOf(completed: CompletedAttempt): Pick<Attempt, 'end' | 'reason' | 'outcomeUnknown'> {
  if ('answer' in completed) return { end: 'answered', outcomeUnknown: false };
  const { kind: end, message: reason, outcomeUnknown } = completed.failure;
  return { end, reason, outcomeUnknown };
}

function usageOf(completed: CompletedAttempt): Attempt['usage'] | undefined {
  return 'answer' in completed ? completed.answer.usage : completed.failure.usage;
}

/** What the vendor counted; undefined where it may have counted anything. */
function billed(completed: CompletedAttempt): Attempt['usage'] | undefined {
  const isUnknown = 'failure' in completed && completed.failure.outcomeUnknown;
  return usageOf(completed) ?? (isUnknown ? undefined : NO_USAGE);
}
