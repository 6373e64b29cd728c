/** Reads a request's JSON-RPC message out of its bytes and refuses what no part behind it should meet. */

import { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
import { isRecord } from '../validation.ts';
import { jsonFault, LOOKED_AT } from './jsonFault.ts';

interface Limits {
  readonly depth: number;
  /** Values of any kind in a message, or in a batch in all. */
  readonly values: number;
}

const BODY_LIMITS: Limits = { depth: 64, values: 100_000 };

export const MAX_BATCH = 50;
export const MAX_ID_LENGTH = 200;

/** Something wrong with the message as such, with its JSON-RPC code. */
export class BadMessage extends Error {
  readonly code: number;
  /** The message's, where it has one that can be answered to. */
  readonly id: string | number | null;

  constructor(code: number, message: string, id: string | number | null = null) {
    super(message);
    this.name = 'BadMessage';
    this.code = code;
    this.id = id;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The JSON of a body, of bearable depth and size.
 * @throws BadMessage
 */
export function parseBody(bytes: Buffer): unknown {
  const tooMuch = beyondLimits(bytes, BODY_LIMITS);
  if (tooMuch === 'depth') {
    const what = `The message nests too deeply: at most ${BODY_LIMITS.depth} arrays and objects within each other.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  if (tooMuch === 'values') {
    const what = `The message holds more than ${BODY_LIMITS.values} values: split it into several.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  if (bytes.length === 0) throw unparsed('the body is empty. Send a JSON-RPC message.');
  const text = textOf(bytes);
  if (text === undefined) throw unparsed('the body is not JSON in UTF-8. Send it encoded in UTF-8.');
  try {
    return JSON.parse(text);
  } catch {
    const fault = jsonFault(text);
    const where = fault === undefined ? `After its first ${LOOKED_AT} characters` : `At ${fault}`;
    throw unparsed(`the body is not JSON. ${where}.`);
  }
}

function unparsed(why: string): BadMessage {
  return new BadMessage(PARSE_ERROR, `Parse error: ${why}`);
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The message of an MCP request, or its batch.
 * @throws BadMessage
 */
export function parseMessage(bytes: Buffer): unknown {
  const message = parseBody(bytes);
  if (Array.isArray(message)) return checkedBatch(message);
  const fault = faultOf(message);
  if (fault === undefined) return message;
  const id = isRecord(message) ? message['id'] : null;
  throw new BadMessage(INVALID_REQUEST, fault, isAnswerable(id) ? id : null);
}

/** Source: MCP 2025-03-26, "Batching"; later revisions have no batches. */
function checkedBatch(batch: readonly unknown[]): readonly unknown[] {
  if (batch.length === 0 || batch.length > MAX_BATCH) {
    const what = `A batch holds 1 to ${MAX_BATCH} messages; this one holds ${batch.length}.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  for (const [index, message] of batch.entries()) {
    const fault = faultOf(message);
    if (fault !== undefined)
      throw new BadMessage(INVALID_REQUEST, `Message ${index + 1} of the batch: ${fault}`);
  }
  const ids = batch.map((message) => isRecord(message) && message['id']).filter(isAnswerable);
  if (new Set(ids).size < ids.length)
    throw new BadMessage(INVALID_REQUEST, 'Two messages of the batch have one id.');
  return batch;
}

/** What is wrong with a message, be it a request, a notification or a reply. */
function faultOf(message: unknown): string | undefined {
  if (!isRecord(message)) return `A message is an object, as in ${EXAMPLE}.`;
  const { jsonrpc, method, params, id } = message;
  if (jsonrpc !== '2.0') return `"jsonrpc" must be "2.0", as in ${EXAMPLE}.`;
  if (Object.hasOwn(message, 'id') && !isAnswerable(id)) {
    return `"id" must be a whole number or a string of at most ${MAX_ID_LENGTH} characters.`;
  }
  // A reply has none; the SDK looks whether it is one.
  if (method === undefined && ('result' in message || 'error' in message)) return undefined;
  if (typeof method !== 'string') return `"method" must be a string, as in ${EXAMPLE}.`;
  if (params !== undefined && !isRecord(params)) return '"params" must be an object, or left out.';
  if (isRecord(params) && params['_meta'] !== undefined && !isRecord(params['_meta'])) {
    return '"params._meta" must be an object, or left out.';
  }
  return undefined;
}

const EXAMPLE = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}';

function isAnswerable(id: unknown): id is string | number {
  return typeof id === 'string' ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id);
}

/** Space, tab, line feed, carriage return. */
const WHITESPACE: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** How many levels a bracket leads down. */
const LEVELS: ReadonlyMap<number | undefined, number> = new Map([
  [0x5b, 1],
  [0x7b, 1],
  [0x5d, -1],
  [0x7d, -1],
]);

/**
 * What a JSON text holds too much of, told from its bytes: to parse what is refused anyway would cost the most. Each
 * value but the outermost is the first within its brackets or comes after a comma, outside of strings; no byte within
 * a longer character of UTF-8 is any of these. What is no JSON is counted somehow, and fails to parse if it gets so far.
 */
export function beyondLimits(json: Uint8Array, most: Limits): keyof Limits | undefined {
  let values = 1;
  let depth = 0;
  let isOpened = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
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

/** Where the string ends that begins at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}
