/** The only place that formats errors and answers for MCP, and bounds their size and time. Source: docs/semantics.md#errors. */
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

/** What `tools/call` answers. Source: MCP 2025-11-25, CallToolResult. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent: JsonObject;
  readonly isError?: true;
}

/** How a call ended, in no dialect yet. */
export type Outcome = { readonly answer: JsonObject } | { readonly error: MusterError };

/** An error with its integer code. Source: the network specification, "ErrorResponse". */
export function errorObject(error: MusterError) {
  return { code: ERROR_CODES[error.code], message: error.message, data: shownDetails(error) };
}

function shownDetails({ details }: MusterError): JsonObject {
  const { field, value, reason, suggestion, retryAfter, entries, about } = details;
  const quoted = isShowable(value) ? value : undefined;
  const shown = { ...about, field, value: quoted, reason, suggestion, retryAfter, entries };
  return Object.fromEntries(Object.entries(shown).filter(([, detail]) => detail !== undefined));
}

/** What `tools/call` answers; errors in the toolset's envelope or that of the network specification, "Error Codes". */
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

/** An answer, whole in `structuredContent` and whole as text: some clients show the model only the text. */
function answered(answer: JsonObject, text = JSON.stringify(answer)): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent: answer };
}

/** For the 2025 revisions: an error that does not fit `outputSchema` is text alone, or SDK 1.x hides it from models. */
export function forLegacy(envelope: ErrorEnvelope | undefined, result: ToolResult): Partial<ToolResult> {
  if (result.isError === undefined || envelope !== undefined) return result;
  const { structuredContent: _notAsListed, ...rest } = result;
  return rest;
}

/** The error as its caller may see it. What nobody foresaw goes to the log in full and leaves as an id. */
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

/** What the message around the answer takes. */
const ENVELOPE_BYTES = 4096;

const ROOM = MAX_ANSWER_BYTES - ENVELOPE_BYTES;

/** How long texts may be that are cut, in characters: the first of these with which the answer fits. */
const CUTS = [300_000, 100_000, 40_000, 20_000, 10_000, 3000, 1000, 300, 100] as const;

/** Texts that mean nothing when they are cut. */
const WHOLE = /cursor$/i;

/**
 * Returns the answer as it may be sent: none is larger than its bound, whatever a tool has found. Lists end before it
 * and continue with their cursors; this is for what is large in one piece. What a call has done stays done, so its
 * answer is cut and not refused.
 * @param bytesOf the bytes of JSON as it is sent
 * @throws MusterError VALIDATION_ERROR if it is too large and its texts are not the reason
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
  // Many short values: a model is shown less of them, and loses nothing that a client can hold.
  if (isSendable) return answer;
  if (annotations.readOnlyHint) throw tooLarge(bytes, 'Request less data per call.');
  const done = `The call succeeded, but its response (${bytes} bytes) is too large to return.`;
  throw new MusterError('VALIDATION_ERROR', done, {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Do not repeat the call; check its effect with a reading tool.',
  });
}

/** Returns a resource's text as it may be sent: if too large, its beginning and how to read on. JSON stays JSON. */
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

/** Returns the beginning, and how much is missing after it; never more than the text. */
function cutText(text: string, most: number): string {
  const end = `… (${text.length - most} more characters: read this item on its own to get all of it)`;
  if (text.length <= most + end.length) return text;
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '') + end;
}

function tooLarge(bytes: number, suggestion: string): MusterError {
  const what = `The response would be ${bytes} bytes; the limit is ${MAX_ANSWER_BYTES}.`;
  return new MusterError('VALIDATION_ERROR', what, { reason: 'SIZE_LIMIT_EXCEEDED', suggestion });
}

/** Under the 60 s after which clients give up, so that it is us who answer. */
const REQUEST_MILLISECONDS = 50_000;

/** To be made when the request comes in: authentication and all the calls of a batch take from the same time. */
export function timeLeftOfRequest(milliseconds = REQUEST_MILLISECONDS): TimeLeft {
  const end = performance.now() + milliseconds;
  return () => Math.max(0, end - performance.now());
}

/** @throws MusterError TIMEOUT where the time was over before anything was begun */
export function requireTime(timeLeft: TimeLeft): void {
  if (timeLeft() > 0) return;
  const message = `Not run: the request's ${REQUEST_MILLISECONDS / 1000} seconds ran out before the call started.`;
  throw new MusterError('TIMEOUT', message, { reason: 'NOT_RUN', suggestion: 'Retry.' });
}

/** Of a call that says nothing of its own. */
export const LOOK_FIRST: Late = {
  suggestion: 'Check whether it took effect before retrying, or retry with its idempotency_key.',
};

/** `late` is asked once the time is over. @throws MusterError TIMEOUT where the work takes longer; the work goes on */
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
