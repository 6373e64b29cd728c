/**
 * One call: an agent is asked, again after failures that pass, and after it the agents that may take its place.
 * Every attempt is recorded in order. Source: docs/semantics.md#orchestration.
 */

import type { Attempt } from '../../store/runDocument.ts';
import type { FailureClass, HostedAgent, ModelAnswer, ModelFailure, OrchestrationPorts } from '../ports.ts';
import { type Accounts, type AttemptTerms, makeAttempt, notMade } from './attempting.ts';

/** An agent that may be asked. */
interface Candidate {
  readonly agent: HostedAgent;
  /** In tokens. */
  readonly contextWindow: number;
}

/** Its key names it within its step; after its deadline nothing is begun, and nothing goes on. */
export interface Call extends AttemptTerms {
  /** Who is asked, first to last: those after the first only where the first cannot. */
  readonly candidates: readonly Candidate[];
  /** Of one agent in all. */
  readonly attempts: number;
  /** Whether it may be made again where it is unknown what became of it. */
  readonly repeatable: boolean;
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
    if (!availability.available) {
      this.attempts.push(notMade(this.request, agent, 'unavailable', availability.reason).attempt);
      return undefined;
    }
    let waited = 0;
    for (let number = 1; ; number++) {
      const { attempt, settled } = await makeAttempt(
        this.request,
        agent,
        { number, waited },
        this.ports,
        this.accounts,
      );
      this.attempts.push(attempt);
      if (settled === undefined) return undefined;
      if ('answer' in settled) return settled.answer;
      const wait = this.react(settled.failure, number, candidate);
      if (wait === undefined) return undefined;
      await this.ports.timer.wait(wait, this.request.signal);
      if (this.request.signal.aborted) return this.calledOff(agent);
      waited = wait;
    }
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
    this.attempts.push(notMade(this.request, agent, 'aborted', 'It was called off.').attempt);
    this.waiting = [];
    return undefined;
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

// What follows from a call's failure: who is asked next, and when. Source: docs/semantics.md#orchestration.

type Reaction =
  /** Ask the same agent again, after a wait; when its attempts are used up, the next agent. */
  | 'retry'
  /** Ask the next agent at once. */
  | 'next_agent'
  /** Ask an agent with a larger context window, if there is one. */
  | 'larger_context'
  /** Ask no other agent: the same request would fail there too, or must not be repeated. */
  | 'stop';

const REACTIONS: Readonly<Record<FailureClass, Reaction>> = {
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
};

export function reactionTo(kind: FailureClass): Reaction {
  return REACTIONS[kind];
}

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
