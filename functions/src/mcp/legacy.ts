/**
 * Serves the 2025 revisions over HTTP without sessions and answers in JSON where it can: the stream that the
 * SDK's own stateless serving opens would carry one message, but for tools that send notifications first.
 * Source: MCP 2025-11-25, "Transports", "Streamable HTTP"; MCP 2025-03-26, "Batching".
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  INVALID_REQUEST,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { answerInTurn } from './batch.ts';
import { methodOf } from './definitions.ts';
import type { PackedAnswer } from './packedText.ts';
import { errorObject } from './projection.ts';
import { errorReply, type JsonReply, type McpReply } from './reply.ts';

/** The JSON-RPC code with which the SDK refuses what only HTTP can name. */
const HTTP_REFUSED = -32000;

const ACCEPTED: JsonReply = { status: 202, json: undefined };

/** Two ways to make a server and serve one request with it. */
export interface LegacyAnswers {
  /** Whether the request may be worth a stream. */
  mayNotify(request: JSONRPCRequest): boolean;
  asJson(request: JSONRPCRequest): Promise<string | PackedAnswer>;
  /** As a stream if something comes before the answer. */
  asStream(request: JSONRPCRequest): Promise<Response>;
}

/** @param body what the SDK has classified as messages of the 2025 revisions */
export function serveLegacy(
  headers: IncomingHttpHeaders,
  body: unknown,
  answers: LegacyAnswers,
): JsonReply | Promise<McpReply> {
  if (!acceptsJson(headers.accept)) {
    return errorReply(406, HTTP_REFUSED, 'Answers are application/json: accept that.');
  }
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  const initializes = messages.some((message) => methodOf(message) === 'initialize');
  if (initializes && messages.length > 1) {
    return errorReply(400, INVALID_REQUEST, 'An initialize request must come alone.');
  }
  const version = headers['mcp-protocol-version'];
  if (!initializes && typeof version === 'string' && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    return errorReply(400, HTTP_REFUSED, `Unsupported protocol version. Supported versions: ${supported}.`);
  }
  // Notifications and replies mean nothing without a session: they are accepted and end here.
  const requests = messages.filter(isRequest);
  const [first] = requests;
  if (first === undefined) return ACCEPTED;
  if (!Array.isArray(body)) {
    if (answers.mayNotify(first) && acceptsStream(headers.accept)) return answers.asStream(first);
    return answers.asJson(first).then((json) => ({ status: 200, json }));
  }
  return answerInTurn(requests, {
    answer: async (request) => ({ json: await answers.asJson(request), silent: false }),
    refuse: ({ id }, error) => ({
      json: JSON.stringify({ jsonrpc: '2.0', id, error: errorObject(error) }),
      silent: false,
    }),
  }).then((json) => ({ status: 200, json }));
}

/** Told from notifications and replies, which is all that is left: the classification has checked the shape. */
function isRequest(message: unknown): message is JSONRPCRequest {
  return typeof message === 'object' && message !== null && 'method' in message && 'id' in message;
}

/** MCP asks clients to accept event streams as well; what is not sent need not be accepted. */
function acceptsJson(accept: string | undefined): boolean {
  return accept === undefined || /\*\/\*|application\/(json|\*)/.test(accept);
}

/** A stream is only sent to who asks for one by name. */
function acceptsStream(accept: string | undefined): boolean {
  return accept?.includes('text/event-stream') === true;
}
