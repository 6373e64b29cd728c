/** JSON values, and limits of their size. */
import { z } from 'zod';
import { MusterError } from './errors.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

export const JSON_TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

/** Schema of an object that has passed an output schema. Only its outermost type is checked again. */
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** Schema of a parsed JSON value, for which no further check is needed. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined);

/** Returns the parsed JSON; undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface JsonLimits {
  readonly depth: number;
  /** Maximum number of values, counting each object, each list and each value in them. */
  readonly values: number;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const [QUOTE, BACKSLASH, COMMA] = bytesOf('"\\,');
const WHITESPACE = [...bytesOf(' \t\n\r')];

/** Change of the nesting depth at each bracket. */
const LEVELS = new Map([...bytesOf('[{]}')].map((byte, index) => [byte, index < 2 ? 1 : -1]));

/**
 * Returns the name of the limit that a JSON text exceeds. Counts the bytes of the text without parsing it, because
 * parsing is the expensive part. Outside strings, each value except the outermost is the first one within its
 * brackets or follows a comma; no byte of a multibyte UTF-8 character equals a bracket or a comma. Text that is not
 * JSON may pass this check, and is rejected when it is parsed.
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

/** Returns the index of the quote that ends the string that starts at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

/** Limits of a text that is checked for being JSON. They keep the check cheap. */
const MAX_SCANNED_CHARACTERS: JsonLimits = { depth: 64, values: 100_000 };

/** Returns whether a value is a string that contains the JSON of an object or a list. */
export function isWrappedJson(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return false;
  if (beyondLimits(bytesOf(value), MAX_SCANNED_CHARACTERS) !== undefined) return false;
  return typeof parsedJson(value) === 'object';
}

/** Returns JSON with sorted object keys, so that equal values have equal JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

/** Maximum size of the HTTP response to one call, in bytes. */
export const MAX_RESPONSE_BYTES = 1_048_576;

/**
 * Maximum JSON bytes of a page in a tool response. Clients show a model at most 25,000 tokens of a response, and JSON
 * with many ids has about two bytes per token. Source:
 * https://code.claude.com/docs/en/mcp#mcp-output-limits-and-warnings
 */
export const MAX_SHOWN_BYTES = 48_000;

/** Maximum JSON bytes of the items on a page. The remaining bytes are for the other fields of the response. */
export const MAX_LISTED_BYTES = MAX_SHOWN_BYTES - 6000;

/** Maximum bytes of one value in an unpaged response, as sent. The remaining bytes are for the other fields. */
const MAX_SINGLE_ITEM_BYTES = MAX_RESPONSE_BYTES - 65_536;

/** Maximum JSON bytes of the fields of a task that its creator sets. A Firestore document holds at most 1 MiB. */
export const MAX_TASK_BYTES = 100_000;

/** Maximum JSON bytes of a report on a task (output, error and files). A task stores at most two reports. */
export const MAX_REPORT_BYTES = 200_000;
export const MAX_AGENT_BYTES = 100_000;

/** @throws MusterError VALIDATION_ERROR if the JSON of the value is larger than `max` bytes */
export function requireSize(what: string, field: string, value: unknown, max: number): void {
  const bytes = byteLength(value);
  if (bytes <= max) return;
  throw new MusterError('VALIDATION_ERROR', `${what} is limited to ${max} bytes; this value has ${bytes}.`, {
    field,
    reason: 'TOO_LARGE',
    suggestion: 'Shorten the value, or move details elsewhere and link to them.',
  });
}

/** Returns the number of bytes of a value's JSON. */
export function byteLength(value: unknown): number {
  return utf8Length(JSON.stringify(value));
}

export function utf8Length(text: string): number {
  return bytesOf(text).length;
}

/**
 * Returns the size of JSON in an MCP response, in bytes. The response contains the JSON as data and as escaped text.
 */
export function sentBytes(json: string): number {
  return utf8Length(json) + utf8Length(JSON.stringify(json));
}

/** Returns whether a value, together with the other fields of a response, fits into the largest response. */
export function fitsResponse(value: unknown): boolean {
  return sentBytes(JSON.stringify(value)) <= MAX_SINGLE_ITEM_BYTES;
}

/** Returns whether a value fits into one page of a list, or into the given share of a page. */
export function fitsPage(value: unknown, share = 1): boolean {
  return byteLength(value) <= MAX_LISTED_BYTES * share;
}

/**
 * Returns the first items of a list that together fit into one page, but at least one item.
 * @param shown returns the part of an item that counts: the item as in the response, or its long fields
 * @param share fraction of the page that the items may fill
 */
export function fittingItems<Item>(items: readonly Item[], shown: (item: Item) => unknown, share = 1): readonly Item[] {
  let bytes = 1; // The brackets of a list have two bytes: one counts here, the other with the first item.
  const end = items.findIndex((item, at) => {
    bytes += byteLength(shown(item)) + 1;
    return at > 0 && bytes > MAX_LISTED_BYTES * share;
  });
  return end < 0 ? items : items.slice(0, end);
}
