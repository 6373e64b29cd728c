/** The only place that formats errors and answers for MCP. Source: docs/semantics.md#errors. */

import { z } from 'zod';
import { UnansweredCommitError } from '../kernel/commit.ts';
import { ERROR_CODES, MusterError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';
import { TODO_CODES } from '../toolsets/todo/rules/todo.ts';
import { isShowable } from './validation.ts';

/** What `tools/call` answers. Source: MCP 2025-11-25, CallToolResult. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent: JsonObject;
  readonly isError?: true;
}

/** How a call ended, in no dialect yet. */
export type Outcome = { readonly answer: JsonObject } | { readonly error: MusterError };

type Envelope = (error: MusterError) => JsonObject;

/** An error with its integer code. Source: spec/network.md, "ErrorResponse". */
export function errorObject({ code, message, details }: MusterError) {
  const { field, value, reason, suggestion, retryAfter, entries, about } = details;
  const data = {
    ...about,
    ...(field !== undefined && { field }),
    ...(isShowable(value) && { value }),
    ...(reason !== undefined && { reason }),
    ...(suggestion !== undefined && { suggestion }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(entries !== undefined && { entries }),
  };
  return { code: ERROR_CODES[code], message, data };
}

/** spec/network.md, "Error Codes". */
const networkEnvelope: Envelope = (error) => ({ success: false, error: errorObject(error) });

/** spec/coordination.md, "Error Handling". */
const coordinationEnvelope: Envelope = ({ message, details }) => ({
  error: details.suggestion === undefined ? message : `${message} ${details.suggestion}`,
});

/** spec/todo.md, "Error Handling". The codes that it adds to ours are reasons of ours. */
const todoEnvelope: Envelope = ({ code, message, details }) => {
  const { field, reason, suggestion, retryAfter, about } = details;
  const isOfArguments = code === 'REQUIRED_FIELD' || code === 'INVALID_FORMAT';
  const known = TODO_CODES.find((one) => one === reason);
  return {
    success: false,
    error: {
      code: known ?? (isOfArguments ? 'VALIDATION_ERROR' : code),
      message,
      details: {
        ...about,
        ...(field !== undefined && { field }),
        ...(reason !== undefined && reason !== known && { reason }),
        ...(suggestion !== undefined && { suggestion }),
        ...(retryAfter !== undefined && { retryAfter }),
      },
    },
  };
};

/** spec/coding.md, "Tool Response Format". */
const codingEnvelope: Envelope = ({ code, message, details }) => {
  const { field, value, reason, suggestion, retryAfter, about } = details;
  return {
    status: 'error',
    message,
    error: {
      type: code,
      details: {
        ...about,
        ...(field !== undefined && { field }),
        ...(isShowable(value) && { value }),
        ...(reason !== undefined && { reason }),
        ...(suggestion !== undefined && { suggestion }),
        ...(retryAfter !== undefined && { retryAfter }),
      },
    },
  };
};

/** The envelopes of the toolsets that have one of their own. */
const ENVELOPES: ReadonlyMap<string, Envelope> = new Map([
  ['coordination', coordinationEnvelope],
  ['todo', todoEnvelope],
  ['coding', codingEnvelope],
]);

/**
 * What the toolset's listed answers say of errors: `structuredContent` must be as `outputSchema` says, and
 * `@modelcontextprotocol/sdk` 1.x holds errors against it as well and keeps those that fail to itself.
 * spec/network.md fixes what its answers require, which leaves no room there.
 * Source: MCP 2025-11-25, "Output Schema"; modelcontextprotocol/typescript-sdk, issue 1943.
 */
const ENVELOPE_SCHEMAS: ReadonlyMap<string, z.ZodObject> = new Map<string, z.ZodObject>([
  ['coordination', z.object({ error: z.string() })],
  [
    'todo',
    z.object({
      success: z.boolean(),
      error: z.object({
        code: z.string(),
        message: z.string(),
        details: z.record(z.string(), z.unknown()),
      }),
    }),
  ],
  [
    'coding',
    z.object({
      status: z.enum(['success', 'error']),
      message: z.string(),
      error: z.object({ type: z.string(), details: z.record(z.string(), z.unknown()) }),
    }),
  ],
]);

export function envelopeSchema(toolset: string): z.ZodObject | undefined {
  return ENVELOPE_SCHEMAS.get(toolset);
}

/** What `tools/call` answers, with errors in the toolset's own envelope. */
export function toolResult(toolset: string, outcome: Outcome): ToolResult {
  if ('answer' in outcome) return answered(outcome.answer);
  const envelope = ENVELOPES.get(toolset) ?? networkEnvelope;
  return { ...answered(envelope(outcome.error)), isError: true };
}

/** An answer, whole in `structuredContent` and whole as text: some clients show the model only the text. */
function answered(answer: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

/**
 * The same for clients of the 2025 revisions, where an error that is not as the listed `outputSchema` says
 * goes as text alone: `@modelcontextprotocol/sdk` 1.x would hide it from the model.
 */
export function forLegacy(toolset: string, result: ToolResult): Partial<ToolResult> {
  if (result.isError === undefined || envelopeSchema(toolset) !== undefined) return result;
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
