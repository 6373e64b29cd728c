/** JSON values, and how long they may be. */
import { z } from 'zod';
import { MusterError } from './errors.ts';

/** A value that JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

export const JSON_TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;

export type JsonType = (typeof JSON_TYPES)[number];

/** Returns the type of a value that came out of JSON. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

/** An object that came out of an output schema: only its outermost shape is left to check. */
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** A value that came out of JSON, which leaves nothing to check. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined);

/** Undefined for text that is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface JsonLimits {
  readonly depth: number;
  /** Values of any kind. */
  readonly values: number;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const [QUOTE, BACKSLASH, COMMA] = bytesOf('"\\,');
const WHITESPACE = [...bytesOf(' \t\n\r')];

/** Levels that a bracket adds. */
const LEVELS = new Map([...bytesOf('[{]}')].map((byte, index) => [byte, index < 2 ? 1 : -1]));

/**
 * Names the limit that a JSON text exceeds, from its bytes: parsing a text that is refused anyway would cost the most.
 * Each value except the outermost is the first within its brackets or follows a comma, outside of strings; no byte
 * within a longer character of UTF-8 is any of these. Text that is not JSON is counted in some way, and fails to parse
 * if it gets so far.
 */
export function beyondLimits(json: Uint8Array, most: JsonLimits): keyof JsonLimits | undefined {
  let values = 1;
  let depth = 0;
  let isOpened = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (WHITESPACE.includes(byte)) continue;
    const levels = LEVELS.get(byte) ?? 0;
    if (byte === COMMA || (isOpened && levels >= 0)) values += 1;
    if (byte === QUOTE) at = endOfString(json, at);
    isOpened = levels > 0;
    depth += levels;
    if (depth > most.depth) return 'depth';
    if (values > most.values) return 'values';
  }
  return undefined;
}

/** Returns the index at which the string that begins at `start` ends. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

/** Bounds for a text that may be JSON, so that looking at it costs little. */
const LOOKED_INTO: JsonLimits = { depth: 64, values: 100_000 };

/** Returns whether a value is text that would have been an object or a list, had it been sent as such. */
export function isWrappedJson(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return false;
  if (beyondLimits(bytesOf(value), LOOKED_INTO) !== undefined) return false;
  return typeof parsedJson(value) === 'object';
}

/** JSON with the keys of every object in order, so that equal arguments have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

/** The answer to one call, in bytes as they are sent. */
export const MAX_ANSWER_BYTES = 1_048_576;

/**
 * An answer of a tool that can continue, in bytes of JSON. Clients show a model 25,000 tokens of an answer, and JSON
 * that is full of ids has about two bytes to a token. Source: https://code.claude.com/docs/en/mcp#mcp-output-limits-and-warnings
 */
export const MAX_SHOWN_BYTES = 48_000;

/** What a list's items may take of it: the rest is for what comes with them. */
export const MAX_LISTED_BYTES = MAX_SHOWN_BYTES - 6000;

/** One value in an answer that is not cut, in bytes as they are sent: the rest is for what comes with it. */
const MAX_WHOLE_BYTES = MAX_ANSWER_BYTES - 65_536;

/** The parts of a task that its creator writes, in bytes of JSON: Firestore holds 1 MiB in a document. */
export const MAX_TASK_BYTES = 100_000;

/** A report on a task: its output, error and files, in bytes of JSON. A task holds at most two of them. */
export const MAX_REPORT_BYTES = 200_000;

/** The profile of an agent, in bytes of JSON. */
export const MAX_AGENT_BYTES = 100_000;

/** @throws MusterError VALIDATION_ERROR where the value is larger than `most` bytes of JSON */
export function requireSize(what: string, field: string, value: unknown, most: number): void {
  const bytes = byteLength(value);
  if (bytes <= most) return;
  throw new MusterError('VALIDATION_ERROR', `${what} is limited to ${most} bytes; this one has ${bytes}.`, {
    field,
    reason: 'TOO_LARGE',
    suggestion: 'Shorten it, or move details elsewhere and link to them.',
  });
}

/** The length of a value's JSON in bytes. */
export function byteLength(value: unknown): number {
  return utf8Length(JSON.stringify(value));
}

export function utf8Length(text: string): number {
  return bytesOf(text).length;
}

/** The bytes of JSON in an answer over MCP, which has it twice: as structure, and as a text, which escapes it. */
export function sentBytes(json: string): number {
  return utf8Length(json) + utf8Length(JSON.stringify(json));
}

/** Returns whether the largest answer has room for a value beside what comes with it. */
export function fitsAnswer(value: unknown): boolean {
  return sentBytes(JSON.stringify(value)) <= MAX_WHOLE_BYTES;
}

/** Returns whether one page of a list, or such a share of it, has room for a value. */
export function fitsPage(value: unknown, share = 1): boolean {
  return byteLength(value) <= MAX_LISTED_BYTES * share;
}

/**
 * Returns the first of a list's items, as many as one page has room for, and at least one.
 * @param shown an item as the answer has it, or as much of it as makes it long
 * @param share how much of the page they may take
 */
export function fitting<Item>(
  items: readonly Item[],
  shown: (item: Item) => unknown,
  share = 1,
): readonly Item[] {
  let bytes = 1; // Of the brackets, one is counted with the first item.
  const end = items.findIndex((item, at) => {
    bytes += byteLength(shown(item)) + 1;
    return at > 0 && bytes > MAX_LISTED_BYTES * share;
  });
  return end < 0 ? items : items.slice(0, end);
}
