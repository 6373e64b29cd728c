/**
 * No answer is larger than its bound, whatever a tool has found. Lists end before it and go on by their cursors; this
 * is for what is large in one piece. What a call has done it has done, so its answer is cut rather than refused.
 */
import { MusterError } from '../kernel/errors.ts';
import { type JsonObject, type JsonValue, MAX_ANSWER_BYTES } from '../kernel/json.ts';
import type { Tool } from './tool.ts';

/** What the message around the answer takes. */
const ENVELOPE_BYTES = 4096;

const ROOM = MAX_ANSWER_BYTES - ENVELOPE_BYTES;

/** How long texts may be that are cut, in characters: the first of these with which the answer fits. */
const CUTS = [300_000, 100_000, 30_000, 10_000, 3000, 1000] as const;

/** Texts that mean nothing when they are cut. */
const WHOLE = /cursor$/i;

/**
 * The answer as it may be sent.
 * @param bytesOf what JSON takes as it is sent
 * @throws MusterError VALIDATION_ERROR where it is too large and its texts are not what makes it so
 */
export function withinBounds(
  { ifTooLarge, annotations }: Pick<Tool, 'ifTooLarge' | 'annotations'>,
  answer: JsonObject,
  bytesOf: (json: string) => number,
): JsonObject {
  const bytes = bytesOf(JSON.stringify(answer));
  if (bytes <= ROOM) return answer;
  if (ifTooLarge !== undefined) throw tooLarge(bytes, ifTooLarge);
  for (const most of CUTS) {
    const cut = cutObject(answer, most);
    if (bytesOf(JSON.stringify(cut)) <= ROOM) return cut;
  }
  throw annotations.readOnlyHint ? tooLarge(bytes, 'Ask for less at a time.') : unshowable(bytes);
}

/**
 * The text of a resource as it may be sent: of one that is too large the beginning, and a word about the rest.
 * A JSON resource stays JSON.
 */
export function textWithinBounds(mimeType: string, text: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(text));
  if (bytes <= ROOM) return text;
  const message = `This resource would have ${bytes} bytes, more than an answer may, ${MAX_ANSWER_BYTES}: this is its beginning. Its toolset's tools have the rest in parts.`;
  for (const most of CUTS) {
    const beginning = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
    const shown =
      mimeType === 'application/json'
        ? JSON.stringify({ truncated: true, message, beginning })
        : `${beginning}\n… (${message})\n`;
    if (Buffer.byteLength(JSON.stringify(shown)) <= ROOM) return shown;
  }
  return message;
}

function cutObject(object: JsonObject, most: number): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      value === undefined || WHOLE.test(name) ? value : cutValue(value, most),
    ]),
  );
}

function cutValue(value: JsonValue, most: number): JsonValue {
  if (typeof value === 'string') return cutText(value, most);
  if (typeof value !== 'object' || value === null) return value;
  return isList(value) ? value.map((one) => cutValue(one, most)) : cutObject(value, most);
}

function isList(value: JsonObject | readonly JsonValue[]): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** @returns the beginning, and how much is missing after it; never longer than the text was */
function cutText(text: string, most: number): string {
  const end = `… (${text.length - most} more characters: an answer has at most ${MAX_ANSWER_BYTES} bytes)`;
  if (text.length <= most + end.length) return text;
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '') + end;
}

function tooLarge(bytes: number, suggestion: string): MusterError {
  const what = `The answer would have ${bytes} bytes; it may have ${MAX_ANSWER_BYTES}.`;
  return new MusterError('VALIDATION_ERROR', what, { reason: 'SIZE_LIMIT_EXCEEDED', suggestion });
}

function unshowable(bytes: number): MusterError {
  const what = `The call was carried out, but its answer of ${bytes} bytes cannot be shown.`;
  return new MusterError('VALIDATION_ERROR', what, {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Do not repeat it: look at what it has done with a tool that reads.',
  });
}
