/** Formats all MCP results and errors, and limits their size and time. Source: docs/semantics.md#errors. */
import { UnansweredCommitError } from '../kernel/commit.ts';
import { ERROR_CODES, isShowable, MusterError } from '../kernel/errors.ts';
import {
  byteLength,
  type JsonObject,
  type JsonValue,
  MAX_ANSWER_BYTES,
  MAX_SHOWN_BYTES,
  utf8Length,
} from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';
import { within } from '../kernel/waiting.ts';
import type { Late, TimeLeft } from './callContext.ts';
import type { FoundResource } from './resources.ts';
import type { ErrorEnvelope, Tool } from './tool.ts';
import { isRecord } from './validation.ts';

/** Result of `tools/call`. Source: MCP 2025-11-25, CallToolResult. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent: JsonObject;
  readonly isError?: true;
}

/** Outcome of a call, before it is formatted for a protocol. */
export type Outcome = { readonly answer: JsonObject } | { readonly error: MusterError };

/** Returns an error with its integer code. Source: the network specification, "ErrorResponse". */
export function errorObject(error: MusterError) {
  return { code: ERROR_CODES[error.code], message: error.message, data: shownDetails(error) };
}

function shownDetails({ details }: MusterError): JsonObject {
  const { field, value, reason, suggestion, retryAfter, entries, about } = details;
  const quoted = isShowable(value) ? value : undefined;
  const shown = { ...about, field, value: quoted, reason, suggestion, retryAfter, entries };
  return Object.fromEntries(Object.entries(shown).filter(([, detail]) => detail !== undefined));
}

/** Returns a `tools/call` result. Errors use the toolset's envelope, or the network specification's "Error Codes". */
export function toolResult(
  envelope: ErrorEnvelope | undefined,
  outcome: Outcome,
  text: (answer: JsonObject) => string = JSON.stringify,
): ToolResult {
  if ('answer' in outcome) return answered(outcome.answer, text(outcome.answer));
  const { error } = outcome;
  const shown = envelope?.show(error, shownDetails(error)) ?? { success: false, error: errorObject(error) };
  return { ...answered(shown), isError: true };
}

/** Returns a response as structure and as text, both complete: some clients show the model only the text. */
function answered(answer: JsonObject, text = JSON.stringify(answer)): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent: answer };
}

/** Omits the structure of errors that do not match `outputSchema` in 2025 revisions: SDK 1.x would hide them. */
export function forLegacy(envelope: ErrorEnvelope | undefined, result: ToolResult): Partial<ToolResult> {
  if (result.isError === undefined || envelope !== undefined) return result;
  const { structuredContent: _notAsListed, ...rest } = result;
  return rest;
}

/** Returns the error that the caller may see. Unexpected errors are logged, and only the request id is returned. */
export function presentable(error: unknown, requestId: string, what: string, log: Log): MusterError {
  if (error instanceof MusterError) {
    if (error.cause !== undefined) log.warn('call_refused_with_cause', { requestId, what, error });
    return error;
  }
  if (error instanceof UnansweredCommitError) {
    log.warn('call_unanswered', { requestId, what, error });
    return new MusterError('FIREBASE_ERROR', 'The database did not respond.', {
      reason: 'OUTCOME_UNKNOWN',
      suggestion:
        'The write may or may not have been applied: check before retrying. With an idempotency_key, retrying is safe.',
    });
  }
  log.error('call_broke', { requestId, what, error });
  return new MusterError('INTERNAL', `Internal error. Quote request id ${requestId}.`);
}

/** Bytes of the JSON-RPC message around the response. */
const ENVELOPE_BYTES = 4096;

const ROOM = MAX_ANSWER_BYTES - ENVELOPE_BYTES;

/** Maximum lengths of truncated texts, in characters. The first one with which the response fits is used. */
const CUTS = [300_000, 100_000, 40_000, 20_000, 10_000, 3000, 1000, 300, 100] as const;

/** Names of texts that are useless if truncated. */
const WHOLE = /cursor$/i;

/**
 * Returns the response within its size limit. Lists already end before the limit and continue with a cursor, so this
 * truncates long texts. After a write, the response is truncated and not refused, because the write cannot be
 * reverted.
 * @param bytesOf returns the bytes of JSON as sent
 * @throws MusterError VALIDATION_ERROR if the response is too large for another reason than long texts
 */
export function withinBounds(
  { ifTooLarge, annotations, answersWhole }: Pick<Tool, 'ifTooLarge' | 'annotations' | 'answersWhole'>,
  answer: JsonObject,
  bytesOf: (json: string) => number,
): JsonObject {
  const json = JSON.stringify(answer);
  const bytes = bytesOf(json);
  const isSendable = bytes <= ROOM;
  const isShown = (text: string) => answersWhole || utf8Length(text) <= MAX_SHOWN_BYTES;
  if (isSendable && isShown(json)) return answer;
  if (ifTooLarge !== undefined) throw tooLarge(bytes, ifTooLarge);
  for (const most of CUTS) {
    const cut = cutObject(answer, most);
    const shorter = JSON.stringify(cut);
    if (bytesOf(shorter) <= ROOM && isShown(shorter)) return cut;
  }
  // With many short values, the model sees a part of the response, but the client gets all of it.
  if (isSendable) return answer;
  if (annotations.readOnlyHint) throw tooLarge(bytes, 'Request less data per call.');
  const done = `The call succeeded, but its response (${bytes} bytes) is too large to return.`;
  throw new MusterError('VALIDATION_ERROR', done, {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Do not repeat the call; check its effect with a reading tool.',
  });
}

/** Returns a resource's text within its limit: its beginning if it is too large. JSON stays JSON. */
export function textWithinBounds(
  { mimeType, answersWhole }: Pick<FoundResource, 'mimeType' | 'answersWhole'>,
  text: string,
): string {
  const fits = (shown: string) =>
    answersWhole ? byteLength(shown) <= ROOM : utf8Length(shown) <= MAX_SHOWN_BYTES;
  if (fits(text)) return text;
  const message = `This resource has ${utf8Length(text)} bytes, too many for one response: only its beginning is shown. Its toolset's tools return the rest in parts.`;
  for (const most of CUTS) {
    const beginning = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
    const shown =
      mimeType === 'application/json'
        ? JSON.stringify({ truncated: true, message, beginning })
        : `${beginning}\n… (${message})\n`;
    if (fits(shown)) return shown;
  }
  return message;
}

function cutObject(object: JsonObject, most: number): JsonObject {
  const cut = Object.entries(object).map(([name, value]) => [
    name,
    value === undefined || WHOLE.test(name) ? value : cutValue(value, most),
  ]);
  return Object.fromEntries(cut);
}

function cutValue(value: JsonValue, most: number): JsonValue {
  if (typeof value === 'string') return cutText(value, most);
  if (Array.isArray(value)) return value.map((one: JsonValue) => cutValue(one, most));
  return isRecord(value) ? cutObject(value, most) : value;
}

/** Returns the beginning of a text and the number of omitted characters; never longer than the text. */
function cutText(text: string, most: number): string {
  const end = `… (${text.length - most} more characters: read this item on its own to get all of it)`;
  if (text.length <= most + end.length) return text;
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '') + end;
}

function tooLarge(bytes: number, suggestion: string): MusterError {
  const what = `The response would be ${bytes} bytes; the limit is ${MAX_ANSWER_BYTES}.`;
  return new MusterError('VALIDATION_ERROR', what, { reason: 'SIZE_LIMIT_EXCEEDED', suggestion });
}

/** Below the 60 s after which clients give up, so that the caller gets a response. */
const REQUEST_MILLISECONDS = 50_000;

/** Starts the time limit of a request. Authentication and all calls of a batch share it. */
export function timeLeftOfRequest(milliseconds = REQUEST_MILLISECONDS): TimeLeft {
  const end = performance.now() + milliseconds;
  return () => Math.max(0, end - performance.now());
}

/** @throws MusterError TIMEOUT if the time ran out before the call started */
export function requireTime(timeLeft: TimeLeft): void {
  if (timeLeft() > 0) return;
  const message = `Not run: the request's ${REQUEST_MILLISECONDS / 1000} seconds ran out before the call started.`;
  throw new MusterError('TIMEOUT', message, { reason: 'NOT_RUN', suggestion: 'Retry.' });
}

/** Default for calls without their own suggestion. */
export const LOOK_FIRST: Late = {
  suggestion: 'Check whether it took effect before retrying, or retry with its idempotency_key.',
};

/** `late` is called on timeout. @throws MusterError TIMEOUT if the work takes longer; the work itself continues */
export function withDeadline<T>(
  work: Promise<T>,
  milliseconds: number,
  late: () => Late = () => LOOK_FIRST,
): Promise<T> {
  return within(milliseconds, work, () => {
    const message = `No response within ${Math.round(milliseconds / 100) / 10} seconds.`;
    return new MusterError('TIMEOUT', message, late());
  });
}
