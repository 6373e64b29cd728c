/** What follows from a call's failure: who is asked next, and when. Source: docs/semantics.md#orchestration. */
import type { FailureClass } from '../ports.ts';

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
