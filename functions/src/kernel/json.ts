/** JSON values and their size limits. */
import { z } from 'zod';
import { MusterError } from './errors.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

export const JSON_TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;

export type JsonType = (typeof JSON_TYPES)[number];

/** Returns the type of a parsed JSON value. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

/** An object that passed an output schema, so only its outermost shape is checked. */
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** A parsed JSON value, which needs no check. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined);

/** Returns undefined for text that is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface JsonLimits {
  readonly depth: number;
  /** Maximum number of values of any type. */
  readonly values: number;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const [QUOTE, BACKSLASH, COMMA] = bytesOf('"\\,');
const WHITESPACE = [...bytesOf(' \t\n\r')];

/** Change of depth per bracket. */
const LEVELS = new Map([...bytesOf('[{]}')].map((byte, index) => [byte, index < 2 ? 1 : -1]));

/**
 * Returns the name of the limit that a JSON text exceeds. Counts bytes, because parsing a text that will be refused
 * costs the most. Outside strings, each value except the outermost is the first within its brackets or follows a
 * comma; no byte of a multibyte UTF-8 character equals one of these. Text that is not JSON gets some count, and fails
 * to parse later.
 */
export function beyondLimits(json: Uint8Array, max: JsonLimits): keyof JsonLimits | undefined {
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
    if (depth > max.depth) return 'depth';
    if (values > max.values) return 'values';
  }
  return undefined;
}

/** Returns the index of the quote that closes the string opened at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

/** Limits for a text that may be JSON, so that checking it is cheap. */
const MAX_SCANNED_CHARACTERS: JsonLimits = { depth: 64, values: 100_000 };

/** Returns whether a value is the JSON text of an object or a list. */
export function isWrappedJson(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return false;
  if (beyondLimits(bytesOf(value), MAX_SCANNED_CHARACTERS) !== undefined) return false;
  return typeof parsedJson(value) === 'object';
}

/** Returns JSON with sorted object keys, so that equal arguments have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

/** Maximum bytes of the response to one call, as sent. */
export const MAX_RESPONSE_BYTES = 1_048_576;

/**
 * Maximum JSON bytes of a tool response that has further pages. Clients show a model 25,000 tokens of a response, and
 * JSON with many ids has about two bytes per token. Source:
 * https://code.claude.com/docs/en/mcp#mcp-output-limits-and-warnings
 */
export const MAX_SHOWN_BYTES = 48_000;

/** Maximum JSON bytes of a list's items; the rest of the response is for other fields. */
export const MAX_LISTED_BYTES = MAX_SHOWN_BYTES - 6000;

/** Maximum bytes, as sent, of one value in a response that is not truncated. The rest is for the other fields. */
const MAX_SINGLE_ITEM_BYTES = MAX_RESPONSE_BYTES - 65_536;

/** Maximum JSON bytes of a task's parts from its creator. A Firestore document holds 1 MiB. */
export const MAX_TASK_BYTES = 100_000;

/** Maximum JSON bytes of a report on a task: output, error and files. A task stores at most two reports. */
export const MAX_REPORT_BYTES = 200_000;

/** Maximum JSON bytes of an agent's profile. */
export const MAX_AGENT_BYTES = 100_000;

/** @throws MusterError VALIDATION_ERROR if the value's JSON is larger than `max` bytes */
export function requireSize(what: string, field: string, value: unknown, max: number): void {
  const bytes = byteLength(value);
  if (bytes <= max) return;
  throw new MusterError('VALIDATION_ERROR', `${what} is limited to ${max} bytes; this one has ${bytes}.`, {
    field,
    reason: 'TOO_LARGE',
    suggestion: 'Shorten it, or move details elsewhere and link to them.',
  });
}

/** Returns the length of a value's JSON in bytes. */
export function byteLength(value: unknown): number {
  return utf8Length(JSON.stringify(value));
}

export function utf8Length(text: string): number {
  return bytesOf(text).length;
}

/** Returns the bytes of JSON in an MCP response, which has it twice: as structure and as escaped text. */
export function sentBytes(json: string): number {
  return utf8Length(json) + utf8Length(JSON.stringify(json));
}

/** Returns whether a value fits into the largest response, next to other fields. */
export function fitsResponse(value: unknown): boolean {
  return sentBytes(JSON.stringify(value)) <= MAX_SINGLE_ITEM_BYTES;
}

/** Returns whether a value fits into one page of a list, or a share of the page. */
export function fitsPage(value: unknown, share = 1): boolean {
  return byteLength(value) <= MAX_LISTED_BYTES * share;
}

/**
 * Returns the first items of a list that fit into one page, at least one.
 * @param shown returns an item as the response shows it, or its long parts
 * @param share fraction of the page that the items may fill
 */
export function fittingItems<Item>(items: readonly Item[], shown: (item: Item) => unknown, share = 1): readonly Item[] {
  let bytes = 1; // The first item accounts for one of the two brackets.
  const end = items.findIndex((item, at) => {
    bytes += byteLength(shown(item)) + 1;
    return at > 0 && bytes > MAX_LISTED_BYTES * share;
  });
  return end < 0 ? items : items.slice(0, end);
}
