/**
 * What the Messages API's refusals mean.
 * Source: https://platform.claude.com/docs/en/api/errors; the SDK's `ErrorType` and `ErrorDetails`
 */
import { z } from 'zod';
import type { FailureClass, ModelFailure } from '../../domain/orchestration/ports.ts';
import { broken, classOfStatus, failure, type Progress, statusDetail } from '../models/failure.ts';
import { retryAfterMs } from '../models/retryAfter.ts';

const refusal = z.object({
  status: z.int().optional(),
  headers: z.instanceof(Headers).optional(),
  type: z.string().nullable(),
  errorCode: z.string().nullable(),
  apiMessage: z.string().nullable(),
});

type Refusal = z.output<typeof refusal>;

const TYPES: Readonly<Record<string, FailureClass>> = {
  authentication_error: 'authentication',
  permission_error: 'authentication',
  billing_error: 'quota',
  rate_limit_error: 'rate_limited',
  timeout_error: 'timeout',
  overloaded_error: 'overloaded',
  api_error: 'server_error',
  request_too_large: 'context_too_long',
  not_found_error: 'invalid_request',
  invalid_request_error: 'invalid_request',
};

const SPENT: ReadonlySet<string> = new Set([
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'organization_on_hold',
]);

/** Anthropic has no code of its own for these two: only the wording tells them from other invalid requests. */
const TOO_LONG = /prompt is too long|exceed\S* (the )?context (window|limit)|input length and `max_tokens`/i;
const NO_CREDIT = /credit balance is too low/i;

/** @param error what the SDK threw */
export function failureOf(error: unknown, progress: Progress): ModelFailure {
  const parsed = refusal.safeParse(error);
  const said = parsed.success ? parsed.data : undefined;
  // Without a status and a type it is the SDK's word for a broken connection.
  if (said === undefined || (said.status === undefined && said.type === null)) {
    return isTimeout(error) ? failure('timeout', progress) : broken(error, progress);
  }
  const wait = retryAfterMs(said.headers);
  return failure(classOf(said), progress, {
    detail: said.status === undefined ? 'while it was answering' : statusDetail(said.status),
    ...(wait !== undefined && { retryAfterMs: wait }),
  });
}

function classOf({ status, type, errorCode, apiMessage }: Refusal): FailureClass {
  if (errorCode !== null && SPENT.has(errorCode)) return 'quota';
  const byType = type === null ? undefined : TYPES[type];
  const kind = status === undefined || status === 400 ? byType : undefined;
  const found = kind ?? (status === undefined ? 'server_error' : classOfStatus(status));
  if (found !== 'invalid_request') return found;
  if (TOO_LONG.test(apiMessage ?? '')) return 'context_too_long';
  return NO_CREDIT.test(apiMessage ?? '') ? 'quota' : found;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'APIConnectionTimeoutError';
}
