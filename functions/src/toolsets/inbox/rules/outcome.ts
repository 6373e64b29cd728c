/** What came of an approved call, as it is kept: its answer, or its error. */
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, MusterError } from '../../../kernel/errors.ts';
import { type JsonObject, jsonObject } from '../../../kernel/json.ts';

/** How a call ended. */
export type CallOutcome = { readonly answer: JsonObject } | { readonly error: MusterError };

const text = z.string().exactOptional();

const stored = z.union([
  z.object({ answer: jsonObject }),
  z.object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      field: text,
      reason: text,
      suggestion: text,
    }),
  }),
]);

export function keptOutcome(outcome: CallOutcome): JsonObject {
  if ('answer' in outcome) return { answer: outcome.answer };
  const { code, message, details } = outcome.error;
  const { field, reason, suggestion } = details;
  return { error: { code, message, field, reason, suggestion } };
}

/**
 * The answer of the call.
 * @throws MusterError where it failed, as it did
 */
export function answerOf(outcome: JsonObject): JsonObject {
  const kept = stored.parse(outcome);
  if ('answer' in kept) return kept.answer;
  const { code, message, ...details } = kept.error;
  throw new MusterError(isCode(code) ? code : 'INTERNAL', message, details);
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
