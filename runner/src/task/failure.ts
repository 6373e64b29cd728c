/** Why an attempt failed. The hub decides by the class about another one. Source: docs/guides/runner.md. */
export const FAILURE_CLASSES = [
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

/** An attempt cannot go on. */
export class AttemptFailure extends Error {
  readonly failureClass: FailureClass;
  /** False if another attempt would end in the same way. */
  readonly retryable: boolean;
  /** If set, the task returns to the queue for so many seconds, and the attempt does not count. */
  readonly returnAfterSeconds: number | undefined;

  constructor(
    failureClass: FailureClass,
    message: string,
    { retryable = true, returnAfterSeconds }: { retryable?: boolean; returnAfterSeconds?: number } = {},
  ) {
    super(message);
    this.failureClass = failureClass;
    this.retryable = retryable;
    this.returnAfterSeconds = returnAfterSeconds;
  }
}

const AUTHENTICATION =
  /authenticat|invalid (?:x-)?api[ -]?key|api key not (?:valid|found)|unauthori[sz]ed|not logged in|please run \/login|oauth token|credit balance|permission_denied/i;
const RATE_LIMIT =
  /rate.?limit|overloaded|too many requests|resource.?exhausted|quota|usage limit|limit reached/i;

/** The class of what a coding agent complained of. Its HTTP status, where it names one, counts more than its words. */
export function classify(complaint: string, status?: number): FailureClass {
  if (status === 401 || status === 403) return 'authentication';
  if (status === 429 || status === 529) return 'rate_limit';
  if (RATE_LIMIT.test(complaint)) return 'rate_limit';
  if (AUTHENTICATION.test(complaint)) return 'authentication';
  return 'crashed';
}
