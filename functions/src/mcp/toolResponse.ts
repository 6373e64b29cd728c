/** Format, maximum size and time limit of MCP results and errors. Source: docs/semantics.md#errors. */
import { withTimeoutError } from '../kernel/concurrency.ts';
import { ERROR_CODES, isShowable, MusterError } from '../kernel/errors.ts';
import {
  byteLength,
  type JsonObject,
  type JsonValue,
  MAX_RESPONSE_BYTES,
  MAX_SHOWN_BYTES,
  utf8Length,
} from '../kernel/json.ts';
import type { TimeoutError } from './callContext.ts';
import type { FoundResource } from './resources.ts';
import type { ErrorEnvelope, Tool } from './tool.ts';
import { isRecord } from './validation.ts';

/** Result of `tools/call`. Source: MCP 2025-11-25, CallToolResult. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent: JsonObject;
  readonly isError?: true;
}

/** Outcome of a call, in a form that does not depend on the protocol. */
export type Outcome = { readonly answer: JsonObject } | { readonly error: MusterError };

/** Returns an error in the network specification's format. Source: the network specification, "ErrorResponse". */
export function errorObject(error: MusterError) {
  return { code: ERROR_CODES[error.code], message: error.message, data: shownDetails(error) };
}

function shownDetails({ details }: MusterError): JsonObject {
  const { field, value, reason, suggestion, retryAfter, entries, about } = details;
  const quoted = isShowable(value) ? value : undefined;
  const shown = { ...about, field, value: quoted, reason, suggestion, retryAfter, entries };
  return Object.fromEntries(Object.entries(shown).filter(([, detail]) => detail !== undefined));
}

/** Returns a `tools/call` result. Errors have the format of the toolset, or else of the network specification. */
export function toolResult(
  envelope: ErrorEnvelope | undefined,
  outcome: Outcome,
  text: (answer: JsonObject) => string = JSON.stringify,
): ToolResult {
  if ('answer' in outcome) return successResult(outcome.answer, text(outcome.answer));
  const { error } = outcome;
  const shown = envelope?.show(error, shownDetails(error)) ?? { success: false, error: errorObject(error) };
  return { ...successResult(shown), isError: true };
}

/** Returns a response twice, as structure and as text, because some clients show the model only the text. */
function successResult(answer: JsonObject, text = JSON.stringify(answer)): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent: answer };
}

/** Removes the structure of an error that does not match `outputSchema`, because SDK 1.x would hide such an error. */
export function legacyResult(envelope: ErrorEnvelope | undefined, result: ToolResult): Partial<ToolResult> {
  if (result.isError === undefined || envelope !== undefined) return result;
  const { structuredContent: _notAsListed, ...rest } = result;
  return rest;
}

/** Bytes of a JSON-RPC message in addition to the response that it contains. */
const ENVELOPE_BYTES = 4096;
const TRUNCATION_MARGIN = MAX_RESPONSE_BYTES - ENVELOPE_BYTES;

/** Maximum lengths of texts, in characters. The first length with which the whole response fits is used. */
const TRUNCATION_STEPS = [300_000, 100_000, 40_000, 20_000, 10_000, 3000, 1000, 300, 100] as const;

/** Fields whose values are useless if truncated: cursors. */
const UNTRUNCATED = /cursor$/i;

/**
 * Returns the response within the size limit, if necessary with truncated texts. Lists already fit, because they have
 * pages. The response to a write is truncated rather than refused, because the write has already happened.
 * @param bytesOf returns the number of bytes of JSON as sent
 * @throws MusterError VALIDATION_ERROR if the response is too large even with truncated texts
 */
export function withinSizeLimit(
  { ifTooLarge, annotations, returnsWhole }: Pick<Tool, 'ifTooLarge' | 'annotations' | 'returnsWhole'>,
  answer: JsonObject,
  bytesOf: (json: string) => number,
): JsonObject {
  const json = JSON.stringify(answer);
  const bytes = bytesOf(json);
  const isSendable = bytes <= TRUNCATION_MARGIN;
  const isShown = (text: string) => returnsWhole || utf8Length(text) <= MAX_SHOWN_BYTES;
  if (isSendable && isShown(json)) return answer;
  if (ifTooLarge !== undefined) throw responseTooLarge(bytes, ifTooLarge);
  for (const max of TRUNCATION_STEPS) {
    const cut = truncateObject(answer, max);
    const shorter = JSON.stringify(cut);
    if (bytesOf(shorter) <= TRUNCATION_MARGIN && isShown(shorter)) return cut;
  }
  // A response of many short values is sent in full. The client may show only a part of it to the model.
  if (isSendable) return answer;
  if (annotations.readOnlyHint) throw responseTooLarge(bytes, 'Request less data per call.');
  const done = `The call succeeded, but its response (${bytes} bytes) is too large to return.`;
  throw new MusterError('VALIDATION_ERROR', done, {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Do not repeat the call; check its effect with a reading tool.',
  });
}

/** Returns a resource's text, or its beginning if it is too large. Truncated JSON text is wrapped in valid JSON. */
export function textWithinSizeLimit(
  { mimeType, returnsWhole }: Pick<FoundResource, 'mimeType' | 'returnsWhole'>,
  text: string,
): string {
  const fits = (shown: string) =>
    returnsWhole ? byteLength(shown) <= TRUNCATION_MARGIN : utf8Length(shown) <= MAX_SHOWN_BYTES;
  if (fits(text)) return text;
  const message = `This resource has ${utf8Length(text)} bytes, too many for one response. Only its beginning is shown. The tools of the same toolset return the rest in parts.`;
  for (const max of TRUNCATION_STEPS) {
    const beginning = text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
    const shown =
      mimeType === 'application/json'
        ? JSON.stringify({ truncated: true, message, beginning })
        : `${beginning}\n… (${message})\n`;
    if (fits(shown)) return shown;
  }
  return message;
}

function truncateObject(object: JsonObject, max: number): JsonObject {
  const cut = Object.entries(object).map(([name, value]) => [
    name,
    value === undefined || UNTRUNCATED.test(name) ? value : truncateValue(value, max),
  ]);
  return Object.fromEntries(cut);
}

function truncateValue(value: JsonValue, max: number): JsonValue {
  if (typeof value === 'string') return truncateText(value, max);
  if (Array.isArray(value)) return value.map((one: JsonValue) => truncateValue(one, max));
  return isRecord(value) ? truncateObject(value, max) : value;
}

/** Returns the beginning of a text and the number of omitted characters. The result is never longer than the text. */
function truncateText(text: string, max: number): string {
  const end = `… (${text.length - max} more characters omitted: read this item separately to get all of it)`;
  if (text.length <= max + end.length) return text;
  return text.slice(0, max).replace(/[\ud800-\udbff]$/, '') + end;
}

function responseTooLarge(bytes: number, suggestion: string): MusterError {
  const what = `The response would be ${bytes} bytes; the limit is ${MAX_RESPONSE_BYTES}.`;
  return new MusterError('VALIDATION_ERROR', what, { reason: 'SIZE_LIMIT_EXCEEDED', suggestion });
}

/** Default details of the timeout error. */
export const CHECK_BEFORE_RETRY: TimeoutError = {
  suggestion: 'Check whether the call took effect before retrying, or retry with its idempotency_key.',
};

/** Awaits work; `late` returns the details of a timeout error. @throws MusterError TIMEOUT; the work continues */
export function withRequestTimeout<T>(
  work: Promise<T>,
  milliseconds: number,
  timeoutError: () => TimeoutError = () => CHECK_BEFORE_RETRY,
): Promise<T> {
  return withTimeoutError(milliseconds, work, () => {
    const message = `No response within ${Math.round(milliseconds / 100) / 10} seconds.`;
    return new MusterError('TIMEOUT', message, timeoutError());
  });
}
