/** Why a coding task failed, and whether another attempt may help. */

export const FAILURE_CLASSES = [
  'queue_expired',
  'runner_lost',
  'cli_missing',
  'authentication',
  'rate_limit',
  'no_output',
  'crashed',
  'cancelled',
  'acceptance_failed',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

export interface Failure {
  readonly class: FailureClass;
  readonly message: string;
}

/** How often a task is worked on at most. */
export const MAX_ATTEMPTS = 3;

const RETRYABLE: readonly FailureClass[] = ['runner_lost', 'rate_limit', 'no_output', 'crashed'];

export function isRetryable(failure: FailureClass): boolean {
  return RETRYABLE.includes(failure);
}

/** The wait before the next attempt, in seconds. Only a rate limit passes with time. */
export function backoffSeconds(failure: FailureClass, attempt: number): number {
  return failure === 'rate_limit' ? 30 * 2 ** (attempt - 1) : 0;
}
