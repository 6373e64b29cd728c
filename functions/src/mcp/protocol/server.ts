/**
 * The binding to the MCP SDK: serves one message, or one batch, in whichever era it speaks, without a
 * session. Source: docs/decisions/0007-serving-mcp.md; the SDK's docs/serving/http.md and docs/advanced/low-level-server.md.
 */

import type { IncomingHttpHeaders } from 'node:http';
import {
  classifyInboundRequest,
  createMcpHandler,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type InboundHttpRequest,
  type InboundModernRoute,
  isJSONRPCNotification,
  type JSONRPCRequest,
  type MessageClassification,
  PerRequestHTTPServerTransport,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import { errorObject } from '../answer.ts';
import type { CallPorts } from '../call.ts';
import type { RoutedRequest } from '../catalogue.ts';
import { HTTP_REFUSED } from '../http/refusal.ts';
import { errorReply, type McpReply } from '../http/response.ts';
import type { StreamPorts } from '../http/streams.ts';
import { checkJsonLimits, isRecord, valueAt } from '../validation.ts';
import { answerInTurn } from './batch.ts';
import { buildServer, CALL, type Era, MODERN, methodOf, withTools } from './definitions.ts';
import { LISTEN, listen } from './listen.ts';

/** A request whose credential, origin, size and content type have been checked. */
interface McpRequest extends RoutedRequest {
  readonly headers: IncomingHttpHeaders;
  /** As parsed. */
  readonly body: unknown;
}

interface McpPorts extends StreamPorts {
  readonly version: string;
}

export async function serveMcp(ports: McpPorts, inbound: McpRequest): Promise<McpReply> {
  const { headers, body } = inbound;
  const standard = standardHeaders(headers);
  const outcome = classifyInboundRequest({ httpMethod: 'POST', ...standard, body });
  const request = outcome.kind === 'modern' && outcome.messageKind === 'request' ? outcome : undefined;
  // Opening a stream is charged as it is opened.
  if (request?.message.method !== LISTEN) await charge(ports, inbound, body);
  if (outcome.kind === 'legacy') return serveLegacy(ports, inbound);
  const here = request && (await answerHere(ports, inbound, request, standard));
  if (here !== undefined) return here;
  const modern = createMcpHandler(() => buildServer(ports, inbound, 'modern'), {
    legacy: 'reject',
    onerror: (error) => ports.log.warn('mcp_refused', { error: error.message }),
  });
  const response = await modern.fetch(modernRequest(standard), { parsedBody: body });
  if (response.headers.get('content-type') !== 'application/json') return response;
  return { status: response.status, json: withTools(await response.text(), body, inbound) };
}

/** The reply to a request of 2026-07-28 that the SDK's handler is not needed for; undefined for any other. */
async function answerHere(
  ports: McpPorts,
  inbound: McpRequest,
  request: ModernRequest,
  headers: StandardHeaders,
): Promise<McpReply | undefined> {
  const { message, classification } = request;
  const refused = refusedParams(message, 'modern');
  if (refused !== undefined) return { status: 200, json: refused };
  const build = () => buildServer(ports, inbound, 'modern');
  if (message.method === LISTEN)
    return listen(ports, inbound, { message, request: modernRequest(headers), build });
  if (!isPlain(inbound, request, headers)) return undefined;
  const json = await answerAsJson(build(), message, classification);
  return { status: 200, json: withTools(json, message, inbound) };
}

/** The revision with which answers that are not text came, and the header by which a client says that it knows them. */
const STRUCTURED = '2025-06-18';

/**
 * Serves the 2025 revisions and answers in JSON where it can: the stream that the SDK's own stateless serving
 * opens would carry one message, but for tools that send notifications first.
 * Source: MCP 2025-11-25, "Transports", "Streamable HTTP"; MCP 2025-03-26, "Batching".
 */
async function serveLegacy(ports: McpPorts, inbound: McpRequest): Promise<McpReply> {
  const { headers, body } = inbound;
  // MCP asks clients to accept event streams as well; what is not sent need not be accepted.
  const { accept = '*/*', 'mcp-protocol-version': version } = headers;
  const readsStructure = typeof version === 'string' && version >= STRUCTURED;
  const server = () => buildServer(ports, inbound, 'legacy', readsStructure);
  if (!/\*\/\*|application\/(json|\*)/.test(accept)) {
    return errorReply(406, HTTP_REFUSED, 'The Accept header must allow application/json.');
  }
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  const initializes = messages.some((message) => methodOf(message) === 'initialize');
  if (initializes && messages.length > 1) {
    return errorReply(400, INVALID_REQUEST, 'An initialize request must not be part of a batch.');
  }
  if (!initializes && typeof version === 'string' && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    return errorReply(400, HTTP_REFUSED, `Unsupported protocol version. Supported versions: ${supported}.`);
  }
  // Notifications and replies mean nothing without a session: they are accepted and end here.
  const requests = messages.filter(isRequest);
  const [first] = requests;
  if (first === undefined) return { status: 202, json: undefined };
  const asJson = async (request: JSONRPCRequest) =>
    refusedParams(request, 'legacy') ??
    withTools(await answerAsJson(server(), request, { era: 'legacy' }), request, inbound);
  if (Array.isArray(body)) {
    const json = await answerInTurn(requests, {
      answer: async (request) => ({ json: await asJson(request) }),
      refuse: ({ id }, error) => ({
        json: JSON.stringify({ jsonrpc: '2.0', id, error: errorObject(error) }),
      }),
    });
    return { status: 200, json };
  }
  // A stream is only sent to who asks for one by name.
  const streams = mayNotify(inbound, first) && accept.includes('text/event-stream');
  if (!streams || refusedParams(first, 'legacy') !== undefined) {
    return { status: 200, json: await asJson(first) };
  }
  const transport = new PerRequestHTTPServerTransport({ classification: { era: 'legacy' } });
  await server().connect(transport);
  return transport.handleMessage(first);
}

/** Told from notifications and replies, which is all that is left: the classification has checked the shape. */
function isRequest(message: unknown): message is JSONRPCRequest {
  return isRecord(message) && 'method' in message && 'id' in message;
}

/**
 * The answer to a request, by the SDK's transport for one exchange without its HTTP objects, which cost as much
 * as all else in a cheap call. The SDK knows the revision that a server is to speak by this class alone.
 */
function answerAsJson(
  server: Server,
  request: JSONRPCRequest,
  classification: MessageClassification,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const transport = new PerRequestHTTPServerTransport({ classification });
    transport.send = async (message) => {
      if (!isJSONRPCNotification(message)) resolve(JSON.stringify(message));
    };
    server.connect(transport).then(() => transport.onmessage?.(request, { classification }), reject);
  });
}

type ModernRequest = Extract<InboundModernRoute, { messageKind: 'request' }>;

type StandardHeaders = Omit<InboundHttpRequest, 'httpMethod' | 'body'>;

/**
 * Whether a request of 2026-07-28 is one of the two that come over and over, with just the headers that it must
 * have: all that the SDK checks beyond the classification. A call that may send something before its answer is none.
 * The SDK's handler, with its `Request` and `Response`, has the rest and every refusal.
 */
function isPlain(
  inbound: McpRequest,
  { message, classification }: ModernRequest,
  { protocolVersionHeader, mcpMethodHeader, mcpNameHeader }: StandardHeaders,
): boolean {
  if (classification.revision !== MODERN || protocolVersionHeader !== MODERN) return false;
  if (mcpMethodHeader !== message.method) return false;
  if (message.method === 'tools/list') return true;
  if (message.method !== 'tools/call' || mcpNameHeader === undefined) return false;
  return mcpNameHeader === message.params?.['name'] && !mayNotify(inbound, message);
}

/** Whether a call may send something before its answer. */
function mayNotify({ selected }: McpRequest, { method, params }: JSONRPCRequest): boolean {
  const name = params?.['name'];
  return (
    method === 'tools/call' && typeof name === 'string' && selected.findTool(name)?.tool.notifies === true
  );
}

function standardHeaders(headers: IncomingHttpHeaders): StandardHeaders {
  const version = headers['mcp-protocol-version'];
  const called = headers['mcp-method'];
  const named = headers['mcp-name'];
  return {
    ...(typeof version === 'string' && { protocolVersionHeader: version }),
    ...(typeof called === 'string' && { mcpMethodHeader: called }),
    ...(typeof named === 'string' && { mcpNameHeader: named }),
  };
}

/** The request as the SDK reads it, but for its body, which is handed over parsed. It must have a URL, which nothing reads. */
function modernRequest({ protocolVersionHeader, mcpMethodHeader, mcpNameHeader }: StandardHeaders): Request {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (protocolVersionHeader !== undefined) headers.set('mcp-protocol-version', protocolVersionHeader);
  if (mcpMethodHeader !== undefined) headers.set('mcp-method', mcpMethodHeader);
  if (mcpNameHeader !== undefined) headers.set('mcp-name', mcpNameHeader);
  return new Request('http://muster.invalid/mcp', { method: 'POST', headers });
}

const INITIALIZE = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

/** Refuses wrong params, as JSON; undefined: they are right. The SDK would dump its checks or call it internal. */
function refusedParams({ id, method, params = {} }: JSONRPCRequest, era: Era): string | undefined {
  const refusal = (message: string) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message } });
  const unstorable = limitFault(method, params);
  if (unstorable !== undefined) return refusal(unstorable);
  if (method !== 'tools/call' && (method !== 'initialize' || era !== 'legacy')) return undefined;
  const checked = (method === 'tools/call' ? CALL : INITIALIZE).safeParse(params);
  if (checked.success) return undefined;
  const wrong = checked.error.issues.map((issue) => {
    const name = `"${issue.path.join('.')}"`;
    if (valueAt(params, issue.path) !== undefined) return `${name}: ${issue.message}`;
    return `${name} is missing${issue.code === 'invalid_type' ? `, expected ${issue.expected}` : ''}`;
  });
  return refusal(`Invalid params for ${method}: ${wrong.join('; ')}.`);
}

/** The text, number or depth in a request's params that no method can use. A tool checks its arguments itself. */
function limitFault(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const { arguments: given, ...others } = params;
  try {
    checkJsonLimits(method === 'tools/call' ? others : params);
    return undefined;
  } catch (error) {
    if (error instanceof MusterError) return error.message;
    throw error;
  }
}

/**
 * Takes a token for each message that none will be taken for where it runs: pings, lists, notifications, what
 * names a method, a tool or a resource that there is not. So each message costs one, whatever becomes of it.
 * @throws MusterError RATE_LIMITED, before anything has run
 */
async function charge({ limits }: CallPorts, routed: RoutedRequest, body: unknown): Promise<void> {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    if (!isChargedAsItRuns(routed, message)) await limits.take(routed.requestContext.principal);
  }
}

function isChargedAsItRuns({ selected }: RoutedRequest, message: unknown): boolean {
  if (!isRecord(message) || !('id' in message) || !isRecord(message['params'])) return false;
  const { name, uri, arguments: given = {} } = message['params'];
  if (message['method'] === 'tools/call') {
    return typeof name === 'string' && isRecord(given) && selected.findTool(name) !== undefined;
  }
  return (
    message['method'] === 'resources/read' &&
    typeof uri === 'string' &&
    selected.resources.find(uri) !== undefined
  );
}
