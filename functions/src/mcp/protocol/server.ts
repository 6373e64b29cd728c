/**
 * The binding to the MCP SDK: serves one message, or one batch, in whichever era it speaks, without a
 * session. Source: docs/decisions/0007-serving-mcp.md; the SDK's docs/serving/http.md and docs/advanced/low-level-server.md.
 */

import type { IncomingHttpHeaders } from 'node:http';
import {
  classifyInboundRequest,
  createMcpHandler,
  INVALID_PARAMS,
  type InboundHttpRequest,
  type InboundModernRoute,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallPorts } from '../call.ts';
import type { RoutedRequest } from '../callContext.ts';
import type { McpReply } from '../http/http.ts';
import type { StreamPorts } from '../http/streams.ts';
import { isRecord } from '../jsonLimits.ts';
import { buildServer, CALL, type Identity, methodOf, withTools } from './definitions.ts';
import { answerLegacy, answerModern, type LegacyAnswers, serveLegacy, streamLegacy } from './legacy.ts';
import { LISTEN, listen } from './listen.ts';

/** A request whose credential, origin, size and content type have been checked. */
interface McpRequest extends RoutedRequest {
  readonly headers: IncomingHttpHeaders;
  /** As parsed. */
  readonly body: unknown;
}

/** Serves MCP requests. */
export type McpServer = (request: McpRequest) => Promise<McpReply>;

export function createMcpServer(ports: StreamPorts, version: string): McpServer {
  const identity = { name: 'muster', title: 'Muster', version };
  const served = new WeakMap<Request, McpRequest>();
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const inbound = requestInfo && served.get(requestInfo);
      if (inbound === undefined) throw new Error('A request reached the MCP handler on no known way.');
      return buildServer(ports, identity, inbound, 'modern');
    },
    { legacy: 'reject', onerror: (error) => ports.log.warn('mcp_refused', { error: error.message }) },
  );
  return async (inbound) => {
    const { headers, body } = inbound;
    const standard = standardHeaders(headers);
    const outcome = classifyInboundRequest({ httpMethod: 'POST', ...standard, body });
    const request = outcome.kind === 'modern' && outcome.messageKind === 'request' ? outcome : undefined;
    const listens = request?.message.method === LISTEN;
    // Opening a stream is charged as it is opened.
    if (!listens) await charge(ports, inbound, body);
    if (outcome.kind === 'legacy') {
      return serveLegacy(headers, body, legacyAnswers(ports, identity, inbound));
    }
    if (request !== undefined) {
      const reply = await answerHere(ports, identity, inbound, request, standard);
      if (reply !== undefined) return reply;
    }
    const forwarded = modernRequest(standard);
    served.set(forwarded, inbound);
    const response = await modern.fetch(forwarded, { parsedBody: body });
    if (response.headers.get('content-type') !== 'application/json') return response;
    return { status: response.status, json: withTools(await response.text(), body, inbound) };
  };
}

function legacyAnswers(ports: StreamPorts, identity: Identity, inbound: McpRequest): LegacyAnswers {
  const server = () => buildServer(ports, identity, inbound, 'legacy');
  const refused = (request: JSONRPCRequest) => refusedParams(request, 'legacy');
  return {
    mayNotify: (request) =>
      refused(request) === undefined && mayNotify(inbound, request.method, request.params),
    asJson: async (request) =>
      refused(request) ?? answerLegacy(server(), request).then((json) => withTools(json, request, inbound)),
    asStream: (request) => streamLegacy(server(), request),
  };
}

/** The reply to a request of 2026-07-28 that the SDK's handler is not needed for; undefined for any other. */
async function answerHere(
  ports: StreamPorts,
  identity: Identity,
  inbound: McpRequest,
  request: InboundModernRequest,
  headers: StandardHeaders,
): Promise<McpReply | undefined> {
  const { message, classification } = request;
  const refused = refusedParams(message, 'modern');
  if (refused !== undefined) return { status: 200, json: refused };
  if (isPlain(inbound, request, headers)) {
    const server = buildServer(ports, identity, inbound, 'modern', [MODERN]);
    const json = await answerModern(server, message, classification);
    return { status: 200, json: withTools(json, message, inbound) };
  }
  if (message.method !== LISTEN) return undefined;
  return listen(ports, inbound, message, modernRequest(headers), () =>
    buildServer(ports, identity, inbound, 'modern'),
  );
}

/** The one revision without sessions so far. */
const MODERN = '2026-07-28';

/**
 * Whether a request is one of the two that come over and over, with just the headers that it must have: all
 * that the SDK checks beyond the classification. A call that may send something before its answer is none. Such a request is handed to the server directly; the SDK's
 * handler, with its `Request` and `Response`, has the rest and every refusal.
 */
function isPlain(
  inbound: McpRequest,
  { message, classification }: InboundModernRequest,
  headers: StandardHeaders,
): boolean {
  const { protocolVersionHeader, mcpMethodHeader, mcpNameHeader } = headers;
  if (classification.revision !== MODERN || protocolVersionHeader !== MODERN) return false;
  if (mcpMethodHeader !== message.method) return false;
  if (message.method === 'tools/list') return true;
  return (
    message.method === 'tools/call' &&
    mcpNameHeader !== undefined &&
    mcpNameHeader === message.params?.['name'] &&
    !mayNotify(inbound, message.method, message.params)
  );
}

/** Whether a call may send something before its answer. */
function mayNotify(
  { selected }: McpRequest,
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
): boolean {
  if (method !== 'tools/call') return false;
  const name = params?.['name'];
  return typeof name === 'string' && selected.findTool(name)?.tool.notifies === true;
}

type InboundModernRequest = Extract<InboundModernRoute, { messageKind: 'request' }>;

type StandardHeaders = Omit<InboundHttpRequest, 'httpMethod' | 'body'>;

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

/** A `Request` must have a URL; nothing reads it. */
const NOWHERE = 'http://muster.invalid/mcp';

/** The request as the SDK reads it, but for its body, which is handed over parsed. */
function modernRequest({ protocolVersionHeader, mcpMethodHeader, mcpNameHeader }: StandardHeaders): Request {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (protocolVersionHeader !== undefined) headers.set('mcp-protocol-version', protocolVersionHeader);
  if (mcpMethodHeader !== undefined) headers.set('mcp-method', mcpMethodHeader);
  if (mcpNameHeader !== undefined) headers.set('mcp-name', mcpNameHeader);
  return new Request(NOWHERE, { method: 'POST', headers });
}

// The params of the protocol's own methods that the SDK would refuse with a dump of its checks, some of
// them as an internal error.

const INITIALIZE = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

/** What is checked before the SDK looks, by the era in which the method exists. */
const CHECKED = {
  legacy: new Map<string, z.ZodObject>([
    ['initialize', INITIALIZE],
    ['tools/call', CALL],
  ]),
  modern: new Map<string, z.ZodObject>([['tools/call', CALL]]),
} as const;

/** The answer to a request whose params are wrong, as JSON; undefined where they are right. */
function refusedParams(request: JSONRPCRequest, era: keyof typeof CHECKED): string | undefined {
  const { id, method, params = {} } = request;
  const checked = CHECKED[era].get(method)?.safeParse(params);
  if (checked === undefined || checked.success) return undefined;
  const wrong = checked.error.issues.map((issue) => {
    const name = `"${issue.path.join('.')}"`;
    if (valueAt(params, issue.path) !== undefined) return `${name}: ${issue.message}`;
    return `${name} is missing${issue.code === 'invalid_type' ? `, expected ${issue.expected}` : ''}`;
  });
  const error = { code: INVALID_PARAMS, message: `Invalid params for ${method}: ${wrong.join('; ')}.` };
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

function valueAt(holder: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? value[String(key)] : undefined), holder);
}

// What of MCP costs its caller as much as a call and never becomes one.

/**
 * Takes a token for each message that none will be taken for where it runs: pings, lists, notifications, what
 * names a method, a tool or a resource that there is not. So each message costs one, whatever becomes of it.
 * @throws MusterError RATE_LIMITED, before anything has run
 */
async function charge(
  { limits }: Pick<CallPorts, 'limits'>,
  routed: RoutedRequest,
  body: unknown,
): Promise<void> {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    if (!isChargedAsItRuns(routed, message)) await limits.take(routed.requestContext.principal);
  }
}

function isChargedAsItRuns({ selected }: RoutedRequest, message: unknown): boolean {
  if (!isRecord(message) || !('id' in message) || !isRecord(message['params'])) return false;
  const { name, uri, arguments: given = {} } = message['params'];
  const method = methodOf(message);
  if (method === 'tools/call') {
    return typeof name === 'string' && isRecord(given) && selected.findTool(name) !== undefined;
  }
  return method === 'resources/read' && typeof uri === 'string' && selected.resources.find(uri) !== undefined;
}
