/**
 * What the Gemini API's refusals mean. The SDK keeps of them the status, and the body as text.
 * Source: https://ai.google.dev/gemini-api/docs/troubleshooting; https://google.aip.dev/193
 */
import { z } from 'zod';
import type { FailureClass, ModelFailure } from '../../domain/orchestration/ports.ts';
import { broken, classOfStatus, failure, type Progress, statusDetail } from '../models/failure.ts';
import { retryAfterMs } from '../models/retryAfter.ts';

const refusal = z.object({ name: z.literal('ApiError'), status: z.int(), message: z.string() });

const detail = z.looseObject({
  reason: z.string().optional(),
  retryDelay: z.string().optional(),
  violations: z.array(z.looseObject({ quotaId: z.string().optional() })).optional(),
});

const body = z.object({
  error: z.object({
    status: z.string().default(''),
    message: z.string().default(''),
    details: z.array(detail).default([]),
  }),
});

type Said = z.output<typeof body>['error'];

const TOO_LONG = /token count.{0,40}exceeds|exceeds the maximum number of tokens/i;

/** A quota that waiting does not give back: the day's, or one that the project does not have at all. */
const USED_UP = /PerDay/;
const NONE_AT_ALL = /\blimit: 0\b/;

/**
 * @param error what the SDK threw
 * @param headers of the answer, which the SDK does not hand on
 */
export function failureOf(error: unknown, headers: Headers | undefined, progress: Progress): ModelFailure {
  const parsed = refusal.safeParse(error);
  if (!parsed.success) return broken(error, progress);
  const { status, message } = parsed.data;
  const said = saidIn(message);
  const wait = retryAfterMs(headers) ?? retryDelay(said);
  return failure(classOf(status, said), progress, {
    detail: statusDetail(status),
    ...(wait !== undefined && { retryAfterMs: wait }),
  });
}

function saidIn(message: string): Said {
  const begin = message.indexOf('{');
  try {
    return body.parse(JSON.parse(message.slice(begin === -1 ? 0 : begin))).error;
  } catch {
    return { status: '', message: '', details: [] };
  }
}

function classOf(status: number, { status: name, message, details }: Said): FailureClass {
  const reasons = details.map(({ reason }) => reason);
  if (reasons.includes('API_KEY_INVALID')) return 'authentication';
  if (status === 429) return isUsedUp(message, details) ? 'quota' : 'rate_limited';
  if (status !== 400) return classOfStatus(status);
  if (name === 'FAILED_PRECONDITION') return 'quota'; // no billing, where there is no free tier
  return TOO_LONG.test(message) ? 'context_too_long' : 'invalid_request';
}

function isUsedUp(message: string, details: Said['details']): boolean {
  const violations = details.flatMap((one) => one.violations ?? []);
  return NONE_AT_ALL.test(message) || violations.some(({ quotaId = '' }) => USED_UP.test(quotaId));
}

/** A duration as Protocol Buffers write one: `34.074s`. */
function retryDelay({ details }: Said): number | undefined {
  const texts = details.map((one) => /^(\d+(?:\.\d+)?)s$/.exec(one.retryDelay ?? '')?.[1]);
  const seconds = texts.find((text) => text !== undefined);
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}
