/** Reads a request's JSON-RPC message out of its bytes and refuses what no part behind it should meet. */
import { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
import { excessOf } from './structure.ts';

const MAX_DEPTH = 64;

/** Values of any kind in a message, or in a batch in all. */
export const MAX_BODY_VALUES = 100_000;

export const MAX_BATCH = 50;
export const MAX_ID_LENGTH = 200;

/** Something wrong with the message as such, with its JSON-RPC code. */
export class BadMessage extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'BadMessage';
    this.code = code;
  }
}

/**
 * The JSON of a body, of bearable depth and size.
 * @throws BadMessage
 */
export function parseBody(bytes: Buffer | undefined): unknown {
  const body = parseJson(bytes);
  const excess = excessOf(body, { depth: MAX_DEPTH, values: MAX_BODY_VALUES });
  if (excess === 'depth') throw new BadMessage(INVALID_REQUEST, 'The message nests too deeply.');
  if (excess === 'values') {
    const what = `The message holds more than ${MAX_BODY_VALUES} values: split it into several.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  return body;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer | undefined): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    throw new BadMessage(PARSE_ERROR, 'Parse error: the body is not JSON in UTF-8.');
  }
}

/**
 * The message of an MCP request, or its batch.
 * @throws BadMessage
 */
export function parseMessage(bytes: Buffer | undefined): unknown {
  const message = parseBody(bytes);
  if (Array.isArray(message)) return checkedBatch(message);
  if (hasLongId(message))
    throw new BadMessage(INVALID_REQUEST, `An id may have ${MAX_ID_LENGTH} characters.`);
  return message;
}

/** Source: MCP 2025-03-26, "Batching"; later revisions have no batches. */
function checkedBatch(batch: readonly unknown[]): readonly unknown[] {
  if (batch.length > MAX_BATCH) {
    throw new BadMessage(
      INVALID_REQUEST,
      `A batch may hold ${MAX_BATCH} messages; this one holds ${batch.length}.`,
    );
  }
  if (batch.some(hasLongId))
    throw new BadMessage(INVALID_REQUEST, `An id may have ${MAX_ID_LENGTH} characters.`);
  const ids = batch.map(idOf).filter((id) => id !== undefined);
  if (new Set(ids).size < ids.length)
    throw new BadMessage(INVALID_REQUEST, 'Two messages of the batch have one id.');
  return batch;
}

function idOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined;
}

function hasLongId(message: unknown): boolean {
  const id = idOf(message);
  return typeof id === 'string' && id.length > MAX_ID_LENGTH;
}
