/** Steps that read and parse the body of a request. */
import { INVALID_REQUEST, isJsonContentType, PARSE_ERROR } from '@modelcontextprotocol/server';
import { beyondLimits, type JsonLimits, parsedJson } from '../../kernel/json.ts';
import { hasAtMost, terminalText } from '../../kernel/text.ts';
import { isRecord } from '../validation.ts';
import type { Authenticated } from './credential.ts';
import type { PipelineRequest, WithServices } from './pipeline.ts';
import { rejection } from './rejection.ts';
import { readBody } from './request.ts';
import type { Routed } from './route.ts';

/** Rejects a request whose content type is not JSON. */
export function contentType({ request, method: allowed }: PipelineRequest & Routed): void {
  if (allowed === 'GET' || isJsonContentType(request.headers['content-type'])) return;
  const what = 'The content type must be application/json. Send the header "Content-Type: application/json".';
  throw rejection(415, what);
}

export interface ReadBody {
  readonly bytes: Buffer;
}

/** Reads the body within the limits of size, time and memory. */
export async function body({ request, response }: PipelineRequest): Promise<ReadBody> {
  return { bytes: await readBody(request, response) };
}

/** Parses the body of an MCP request. @throws HttpRejection if the message is invalid */
export function message(exchange: WithServices & Authenticated & ReadBody): { message: unknown } | Promise<never> {
  try {
    return { message: parseMessage(exchange.bytes) };
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error;
    const { message, code, id } = error;
    // An invalid message counts towards the rate limit like a valid one.
    return exchange.deployment.limits.take(exchange.principal).then(() => {
      throw rejection(400, message, { code, id });
    });
  }
}

/** Limits for a message, or for all messages of a batch together. */
const JSON_LIMITS: JsonLimits = { depth: 64, values: 100_000 };
const EXCESSES = {
  depth: `The message nests too deeply: the maximum is ${JSON_LIMITS.depth} levels of arrays and objects.`,
  values: `The message contains more than ${JSON_LIMITS.values} values; split it.`,
};
export const MAX_BATCH = 50;
export const MAX_ID_LENGTH = 200;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Error for an invalid message, with a JSON-RPC error code. */
export class BadMessage extends Error {
  readonly code: number;
  /** Id of the invalid message; null if it has no valid id. */
  readonly id: string | number | null;

  constructor(code: number, message: string, id: string | number | null = null) {
    super(message);
    this.name = 'BadMessage';
    this.code = code;
    this.id = id;
  }
}

/** Returns the parsed body. @throws BadMessage if it is not JSON in UTF-8, or exceeds the limits */
export function parseBody(bytes: Buffer): unknown {
  const excess = beyondLimits(bytes, JSON_LIMITS);
  if (excess !== undefined) throw new BadMessage(INVALID_REQUEST, EXCESSES[excess]);
  if (bytes.length === 0) throw unparsed('the body is empty. Send a JSON-RPC message.');
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw unparsed('the body is not valid UTF-8. Send JSON encoded in UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw unparsed(`the body is not JSON. ${terminalText(fault)}.`);
  }
}

function unparsed(why: string): BadMessage {
  return new BadMessage(PARSE_ERROR, `Parse error: ${why}`);
}

/** Returns the message or batch in the body of an MCP request. @throws BadMessage */
export function parseMessage(bytes: Buffer): unknown {
  const body = parseBody(bytes);
  if (Array.isArray(body)) return checkedBatch(body.map(withoutNullParams));
  const message = withoutNullParams(body);
  const fault = messageError(message);
  if (fault === undefined) return message;
  const id = isRecord(message) ? message['id'] : null;
  throw new BadMessage(INVALID_REQUEST, fault, isValidId(id) ? id : null);
}

/**
 * Removes nulls from `params`, because some clients send null for omitted values, which MCP does not allow. Nulls in
 * a call's arguments stay, because its tool may accept them. Arguments sent as JSON text are parsed.
 */
function withoutNullParams(message: unknown): unknown {
  if (!isRecord(message) || !Object.hasOwn(message, 'params')) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isRecord(params)) return message;
  const { arguments: given, ...others } = params;
  const kept = given === null || given === undefined ? {} : { arguments: parsedArguments(given) };
  return { ...rest, params: { ...withoutNulls(others), ...kept } };
}

/** Parses arguments that some clients send as JSON text. Other values are returned unchanged. */
function parsedArguments(given: unknown): unknown {
  if (typeof given !== 'string' || beyondLimits(Buffer.from(given), JSON_LIMITS) !== undefined) return given;
  const parsed = parsedJson(given);
  return isRecord(parsed) ? parsed : given;
}

/** Removes null members of objects at every level. Recursion is safe, because the depth of messages is limited. */
function withoutNulls(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const members = Object.entries(record).filter(([, value]) => value !== null);
  return Object.fromEntries(members.map(([name, value]) => [name, isRecord(value) ? withoutNulls(value) : value]));
}

/** Returns the valid batch. Only revision 2025-03-26 has batches. Source: MCP 2025-03-26, "Batching". */
function checkedBatch(batch: readonly unknown[]): readonly unknown[] {
  if (batch.length === 0 || batch.length > MAX_BATCH) {
    const what = `A batch must contain 1 to ${MAX_BATCH} messages; this one contains ${batch.length}.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  for (const [index, message] of batch.entries()) {
    const fault = messageError(message);
    if (fault !== undefined) throw new BadMessage(INVALID_REQUEST, `Message ${index + 1} of the batch: ${fault}`);
  }
  const ids = batch.map((message) => isRecord(message) && message['id']).filter(isValidId);
  if (new Set(ids).size < ids.length) throw new BadMessage(INVALID_REQUEST, 'Duplicate id in the batch.');
  return batch;
}

/** Returns what is wrong with a message; undefined if it is valid. */
function messageError(message: unknown): string | undefined {
  if (!isRecord(message)) return `A message must be an object, as in ${EXAMPLE}.`;
  const { jsonrpc, method, params, id } = message;
  if (jsonrpc !== '2.0') return `"jsonrpc" must be "2.0", as in ${EXAMPLE}.`;
  if (Object.hasOwn(message, 'id') && !isValidId(id))
    return `"id" must be a whole number or a string of at most ${MAX_ID_LENGTH} characters.`;
  // The MCP SDK validates responses, which have no method.
  if (method === undefined && ('result' in message || 'error' in message)) return undefined;
  if (typeof method !== 'string') return `"method" must be a string, as in ${EXAMPLE}.`;
  if (params !== undefined && !isRecord(params)) return '"params" must be an object or omitted.';
  if (isRecord(params) && params['_meta'] !== undefined && !isRecord(params['_meta']))
    return '"params._meta" must be an object or omitted.';
  return undefined;
}

const EXAMPLE = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}';

function isValidId(id: unknown): id is string | number {
  return typeof id === 'string' ? hasAtMost(id, MAX_ID_LENGTH) : Number.isSafeInteger(id);
}
