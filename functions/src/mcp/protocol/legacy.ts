/**
 * Serves the 2025 revisions over HTTP without sessions and answers in JSON where it can: the stream that the
 * SDK's own stateless serving opens would carry one message, but for tools that send notifications first.
 * Source: MCP 2025-11-25, "Transports", "Streamable HTTP"; MCP 2025-03-26, "Batching".
 */

import type { IncomingHttpHeaders } from 'node:http';
import {
  INVALID_REQUEST,
  isJSONRPCNotification,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageClassification,
  PerRequestHTTPServerTransport,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server';
import { MusterError } from '../../kernel/errors.ts';
import { MAX_ANSWER_BYTES } from '../../kernel/json.ts';
import { errorObject } from '../answer.ts';
import type { PackedAnswer } from '../http/compression.ts';
import { errorReply, type JsonReply, type McpReply } from '../http/http.ts';
import { withDeadline } from '../idempotency.ts';
import { methodOf } from './definitions.ts';

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

// Ways to serve one request with one server. Two of them are transports that carry the request there and
// its answer back, without the HTTP objects of the SDK's own, which cost as much as all else in a cheap
// call.

type Resolve = (message: JSONRPCMessage) => void;

class LegacyOnce implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #resolve: Resolve;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!isJSONRPCNotification(message)) this.#resolve(message);
  }

  async close(): Promise<void> {}
}

/** The SDK knows the revision that a server is to speak by this class alone. */
class ModernOnce extends PerRequestHTTPServerTransport {
  readonly #resolve: Resolve;

  constructor(classification: MessageClassification, resolve: Resolve) {
    super({ classification });
    this.#resolve = resolve;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if (!isJSONRPCNotification(message)) this.#resolve(message);
  }
}

/** The answer to a request of the 2025 revisions, as JSON. */
export function answerLegacy(server: Server, request: JSONRPCRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const transport = new LegacyOnce((message) => resolve(JSON.stringify(message)));
    server.connect(transport).then(() => transport.onmessage?.(request), reject);
  });
}

/** The answer to a request of 2026-07-28 that the SDK's checks would let through to the server, as JSON. */
export function answerModern(
  server: Server,
  request: JSONRPCRequest,
  classification: MessageClassification,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const transport = new ModernOnce(classification, (message) => resolve(JSON.stringify(message)));
    server.connect(transport).then(() => transport.onmessage?.(request, { classification }), reject);
  });
}

/** The answer to a request of the 2025 revisions, as a stream if the server sends something before it. */
export async function streamLegacy(server: Server, request: JSONRPCRequest): Promise<Response> {
  const transport = new PerRequestHTTPServerTransport({ classification: { era: 'legacy' } });
  await server.connect(transport);
  return transport.handleMessage(request);
}

// Answers the messages of a batch one after another, within bounds for all of them together: a batch is one
// HTTP request, and may not cost an instance more than a few single calls.

/** The answers to a batch, in bytes. */
export const MAX_BATCH_BYTES = 4 * MAX_ANSWER_BYTES;

/** What ids, errors and the like take beside the answers of the calls. */
const ENVELOPE_BYTES = 65_536;

/** The same as of a single call: clients give up after 60 seconds, however many messages they sent. */
const BATCH_MILLISECONDS = 50_000;

/** How much later than a call itself a batch gives it up: the call says best what it has begun. */
const COURTESY_MILLISECONDS = 250;

/** What a message has come to. */
export interface Answered {
  readonly json: string | PackedAnswer;
  /** Whether nobody is told: it counts all the same. */
  readonly silent: boolean;
}

interface BatchAnswers<Message> {
  /** Runs a message. Never rejects. */
  answer(message: Message): Promise<Answered>;
  /** What is said of a message in place of its answer. */
  refuse(message: Message, error: MusterError): Answered;
}

/** @returns the answers as one JSON list, in the order of the messages; undefined where nobody is told anything */
export async function answerInTurn<Message>(
  messages: readonly Message[],
  { answer, refuse }: BatchAnswers<Message>,
  milliseconds = BATCH_MILLISECONDS,
): Promise<string | undefined> {
  const end = performance.now() + milliseconds;
  const told: string[] = [];
  let bytes = 0;
  for (const message of messages) {
    const left = end - performance.now();
    const answered = await inTurn(message, bytes, left);
    const { json, silent } = answered;
    const text = typeof json === 'string' ? json : json.bytes().toString();
    bytes += Buffer.byteLength(text);
    if (!silent) told.push(text);
  }
  return told.length === 0 ? undefined : `[${told.join(',')}]`;

  async function inTurn(message: Message, before: number, left: number): Promise<Answered> {
    if (before + MAX_ANSWER_BYTES + ENVELOPE_BYTES > MAX_BATCH_BYTES) return refuse(message, notRun(FULL));
    if (left <= 0) return refuse(message, notRun(LATE));
    try {
      return await withDeadline(answer(message), Math.ceil(left) + COURTESY_MILLISECONDS);
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      return refuse(message, error);
    }
  }
}

const FULL = {
  code: 'QUOTA_EXCEEDED',
  reason: 'BATCH_TOO_LARGE',
  why: `the answers before it have filled the ${MAX_BATCH_BYTES} bytes that a batch may have`,
} as const;

const LATE = {
  code: 'TIMEOUT',
  reason: 'BATCH_TOO_LONG',
  why: `those before it have taken the ${BATCH_MILLISECONDS / 1000} seconds that a batch may take`,
} as const;

function notRun({ code, reason, why }: typeof FULL | typeof LATE): MusterError {
  return new MusterError(code, `This message of the batch was not run: ${why}.`, {
    reason,
    suggestion: 'Send it again, alone or in a smaller batch.',
  });
}
