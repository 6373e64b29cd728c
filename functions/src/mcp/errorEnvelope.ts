/** The only place that formats errors and answers for MCP. Source: docs/semantics.md#errors. */

import { UnansweredCommitError } from '../kernel/commit.ts';
import { ERROR_CODES, MusterError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';
import type { ErrorEnvelope } from './tool.ts';
import { isShowable } from './validation.ts';

/** What `tools/call` answers. Source: MCP 2025-11-25, CallToolResult. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent: JsonObject;
  readonly isError?: true;
}

/** How a call ended, in no dialect yet. */
export type Outcome = { readonly answer: JsonObject } | { readonly error: MusterError };

/** An error with its integer code. Source: spec/network.md, "ErrorResponse". */
export function errorObject(error: MusterError) {
  return { code: ERROR_CODES[error.code], message: error.message, data: shownDetails(error) };
}

function shownDetails({ details }: MusterError): JsonObject {
  const { field, value, reason, suggestion, retryAfter, entries, about } = details;
  return {
    ...about,
    ...(field !== undefined && { field }),
    ...(isShowable(value) && { value }),
    ...(reason !== undefined && { reason }),
    ...(suggestion !== undefined && { suggestion }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(entries !== undefined && { entries: [...entries] }),
  };
}

/** What `tools/call` answers, with errors in the toolset's own envelope, or in that of spec/network.md, "Error Codes". */
export function toolResult(envelope: ErrorEnvelope | undefined, outcome: Outcome): ToolResult {
  if ('answer' in outcome) return answered(outcome.answer);
  const { error } = outcome;
  const shown = envelope
    ? envelope.show(error, shownDetails(error))
    : { success: false, error: errorObject(error) };
  return { ...answered(shown), isError: true };
}

/** An answer, whole in `structuredContent` and whole as text: some clients show the model only the text. */
function answered(answer: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

/**
 * The same for clients of the 2025 revisions, where an error that is not as the listed `outputSchema` says
 * goes as text alone: `@modelcontextprotocol/sdk` 1.x would hide it from the model.
 */
export function forLegacy(envelope: ErrorEnvelope | undefined, result: ToolResult): Partial<ToolResult> {
  if (result.isError === undefined || envelope !== undefined) return result;
  const { structuredContent: _notAsListed, ...rest } = result;
  return rest;
}

/**
 * The error as its caller may see it. What nobody foresaw goes to the log in full and leaves as an id.
 * @param what the tool, resource or step that failed
 */
export function presentable(error: unknown, requestId: string, what: string, log: Log): MusterError {
  if (error instanceof MusterError) {
    if (error.cause !== undefined) log.warn('call_refused_with_cause', { requestId, what, error });
    return error;
  }
  if (error instanceof UnansweredCommitError) {
    log.warn('call_unanswered', { requestId, what, error });
    return unanswered();
  }
  log.error('call_broke', { requestId, what, error });
  return new MusterError('INTERNAL', `Internal error. Quote request id ${requestId}.`);
}

function unanswered(): MusterError {
  return new MusterError('FIREBASE_ERROR', 'The database has not answered.', {
    reason: 'OUTCOME_UNKNOWN',
    suggestion:
      'It may have been done, or be done yet: look before you call again. With an idempotency_key, calling again is safe.',
  });
}
