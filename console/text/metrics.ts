/** Texts of the screen Metrics. */

export const metrics = {
  hour: 'Last hour',
  day: 'Last 24 hours',
  fortnight: 'Last 14 days',
  span: 'Time span',
  none: 'No calls in this time',
  noneHint: 'Calls of agents and of this console are counted here.',
  calls: 'Calls',
  errorRate: 'Error rate',
  p50: 'Latency p50',
  p95: 'Latency p95',
  cost: 'Cost',
  costToday: 'Cost today',
  costPerDay: 'Cost per day',
  perMinute: 'Calls per minute',
  perHour: 'Calls per hour',
  perDay: 'Calls per day',
  succeeded: 'Succeeded',
  failed: 'Failed',
  latency: 'Latency',
  byTool: 'By tool',
  tool: 'Tool',
  errors: 'Errors',
  why: 'Why they failed',
  milliseconds: '{n} ms',
  more: 'over {n} ms',
} as const;

/** Reasons of failed calls, by their codes. */
export const errorWords: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'Rate limited',
  VALIDATION_ERROR: 'Invalid arguments',
  NOT_FOUND: 'Not found',
  FORBIDDEN: 'Not allowed',
  CONFLICT: 'Conflict',
  UNAUTHENTICATED: 'Not signed in',
  INTERNAL_ERROR: 'Internal error',
  TIMEOUT: 'Timed out',
};
