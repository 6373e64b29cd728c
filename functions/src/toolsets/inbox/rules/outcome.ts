/** What came of an approved call, as it is kept: its answer, or its error. */
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, MusterError } from '../../../kernel/errors.ts';
import { type JsonObject, jsonObject } from '../../../kernel/json.ts';
import { LOOSENS_A_LIMIT } from '../../../kernel/loosening.ts';
import type { Request } from './request.ts';

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

/** The reason of a refusal: the person who approved the call has no role in the workspace any more. */
export const APPROVER_LEFT = 'APPROVER_LEFT';

/**
 * Whether an approved call was refused for a reason that a new approval removes: its approver has left, or what is stored
 * has changed so that the call would loosen more than the person was shown. Then the same call asks anew.
 */
export function needsNewApproval(outcome: JsonObject, { would }: Pick<Request, 'would'>): boolean {
  const kept = stored.parse(outcome);
  const reason = 'error' in kept ? kept.error.reason : undefined;
  return reason === APPROVER_LEFT || (reason === LOOSENS_A_LIMIT && would !== undefined);
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
