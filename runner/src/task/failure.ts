/** Classes of failed attempts. The hub uses the class to decide whether to retry. Source: docs/guides/runner.md. */
export const FAILURE_CLASSES = [
  'runner_lost',
  'cli_missing',
  'authentication',
  'rate_limit',
  'no_output',
  'crashed',
  'cancelled',
  'acceptance_failed',
  'over_budget',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

export class AttemptFailure extends Error {
  readonly failureClass: FailureClass;
  readonly retryable: boolean;
  /** If set, the task is available again after this many seconds, and the attempt does not count. */
  readonly returnAfterSeconds: number | undefined;
  /** End of the limit that caused the failure, if the CLI reported it, in milliseconds since 1970. */
  readonly resetsAt: number | undefined;

  constructor(
    failureClass: FailureClass,
    message: string,
    { retryable = true, returnAfterSeconds, resetsAt }: FailureDetails = {},
  ) {
    super(message);
    this.failureClass = failureClass;
    this.retryable = retryable;
    this.returnAfterSeconds = returnAfterSeconds;
    this.resetsAt = resetsAt;
  }

  /** Whether the runner's machine or account is the cause, so that every other task would fail as well. */
  get isOutage(): boolean {
    return OUTAGES.includes(this.failureClass);
  }

  /** Returns this failure with a delay, so that the task returns to the queue. */
  returning(returnAfterSeconds: number): AttemptFailure {
    const { failureClass, message, resetsAt } = this;
    return new AttemptFailure(failureClass, message, {
      returnAfterSeconds,
      ...(resetsAt !== undefined && { resetsAt }),
    });
  }
}

interface FailureDetails {
  readonly retryable?: boolean;
  readonly returnAfterSeconds?: number;
  readonly resetsAt?: number;
}

const OUTAGES: readonly FailureClass[] = ['cli_missing', 'authentication', 'rate_limit'];

/** Patterns for error texts of Claude Code 2.1.332, Codex 0.169.0, Gemini CLI 0.61.0 and their vendors' APIs. */
const AUTHENTICATION =
  /authenticat|no auth credentials|(?:invalid|incorrect) (?:x-)?api[ -]?key|api[ _]key (?:not|is not|must be) (?:valid|found|set|specified)|unauthori[sz]ed|not logged in|(?:run|use) \/login|oauth token|credit balance|permission_denied|set an auth method|organization has been disabled|disabled organization|session (?:has )?expired|login (?:has )?expired/i;
const RATE_LIMIT =
  /rate.?limit|overloaded|too many requests|resource.?exhausted|quota|(?:usage|session|weekly|daily|spend) limit|limit reached|hit your [\w'’ -]{0,30}limit|at capacity|out of (?:extra )?usage|exhausted your|capacity.?(?:exceeded|exhausted)/i;

/** Returns the class of a coding agent's error. The HTTP status of the model takes precedence over the text. */
export function classify(complaint: string, status?: number): FailureClass {
  if (status === 401 || status === 403) return 'authentication';
  if (status === 429 || status === 529) return 'rate_limit';
  if (RATE_LIMIT.test(complaint)) return 'rate_limit';
  if (AUTHENTICATION.test(complaint)) return 'authentication';
  return 'crashed';
}
