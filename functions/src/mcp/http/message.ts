/** Reads a request's JSON-RPC message out of its bytes and refuses what no part behind it should meet. */

import { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
import { jsonFault, LOOKED_AT } from '../jsonFault.ts';
import { excessOf, isRecord } from '../jsonLimits.ts';

const MAX_DEPTH = 64;

/** Values of any kind in a message, or in a batch in all. */
const MAX_BODY_VALUES = 100_000;

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

/**
 * The JSON of a body, of bearable depth and size.
 * @throws BadMessage
 */
export function parseBody(bytes: Buffer): unknown {
  const excess = excessOf(bytes, { depth: MAX_DEPTH, values: MAX_BODY_VALUES });
  if (excess === 'depth') {
    throw new BadMessage(
      INVALID_REQUEST,
      `The message nests too deeply: at most ${MAX_DEPTH} arrays and objects within each other.`,
    );
  }
  if (excess === 'values') {
    const what = `The message holds more than ${MAX_BODY_VALUES} values: split it into several.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  return parseJson(textOf(bytes));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Buffer): string {
  if (bytes.length === 0) {
    throw new BadMessage(PARSE_ERROR, 'Parse error: the body is empty. Send a JSON-RPC message.');
  }
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new BadMessage(
      PARSE_ERROR,
      'Parse error: the body is not JSON in UTF-8. Send it encoded in UTF-8.',
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = jsonFault(text);
    const where = fault === undefined ? `After its first ${LOOKED_AT} characters` : `At ${fault}`;
    throw new BadMessage(PARSE_ERROR, `Parse error: the body is not JSON. ${where}.`);
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
    throw new BadMessage(
      INVALID_REQUEST,
      `A batch holds 1 to ${MAX_BATCH} messages; this one holds ${batch.length}.`,
    );
  }
  for (const [index, message] of batch.entries()) {
    const fault = faultOf(message);
    if (fault !== undefined) {
      throw new BadMessage(INVALID_REQUEST, `Message ${index + 1} of the batch: ${fault}`);
    }
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
