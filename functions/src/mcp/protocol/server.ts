/**
 * Serves an MCP message or batch of any protocol revision with the MCP SDK, without a session. Source:
 * docs/decisions/0007-serving-mcp.md; the SDK's docs/serving/http.md and docs/advanced/low-level-server.md.
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  classifyInboundRequest,
  createMcpHandler,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type InboundHttpRequest,
  type InboundModernRoute,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import type { CallPorts } from '../call.ts';
import type { RoutedRequest } from '../catalog.ts';
import { HTTP_REJECTED } from '../http/rejection.ts';
import { errorReply, type McpReply } from '../http/response.ts';
import type { StreamPorts } from '../http/streams.ts';
import { mayNeedApproval } from '../tool.ts';
import { errorObject } from '../toolResponse.ts';
import { checkJsonLimits, isRecord, valueAt } from '../validation.ts';
import { respondSequentially } from './batch.ts';
import { buildServer, CALL, type Era, MODERN, MODERN_CLIENT, PAGE, PROMPT, respondDirectly } from './definitions.ts';
import { elicitationOf } from './elicitation.ts';
import { LISTEN, listen } from './listen.ts';

/** A request whose credential, origin, size and content type have been checked. */
interface McpRequest extends RoutedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

interface McpPorts extends StreamPorts {
  readonly version: string;
}

export async function serveMcp(ports: McpPorts, inbound: McpRequest): Promise<McpReply> {
  const { headers, body } = inbound;
  const standard = standardHeaders(headers);
  const outcome = isPlainLegacy(standard, body)
    ? undefined
    : classifyInboundRequest({ httpMethod: 'POST', ...standard, body });
  const request = outcome?.kind === 'modern' && outcome.messageKind === 'request' ? outcome : undefined;
  const message = request?.message;
  // A stream counts towards the rate limit when it opens, so it is not counted here.
  if (message?.method !== LISTEN) await chargeRateLimit(ports, inbound, body);
  if (outcome === undefined || outcome.kind === 'legacy') return serveLegacy(ports, inbound);
  const isDirect = request !== undefined && isPlain(inbound, request, standard);
  const direct = (asked: JSONRPCRequest) =>
    isDirect ? respondDirectly(ports, inbound, asked, MODERN_CLIENT) : undefined;
  const json = message && (invalidParams(message, 'modern') ?? (await direct(message)));
  if (json !== undefined) return { status: 200, json };
  const build = () => buildServer(ports, inbound, MODERN_CLIENT);
  if (message?.method === LISTEN) return listen(ports, inbound, { message, request: modernRequest(headers), build });
  const modern = createMcpHandler(build, {
    legacy: 'reject',
    onerror: (error) => ports.log.warn('mcp_refused', { error: error.message }),
  });
  const response = await modern.fetch(modernRequest(headers), { parsedBody: body });
  if (response.headers.get('content-type') !== 'application/json') return response;
  return { status: response.status, json: await response.text() };
}

/** Returns whether this is certainly a legacy request. The SDK's classification would take longer than a cheap call. */
function isPlainLegacy({ protocolVersionHeader: version }: StandardHeaders, body: unknown): boolean {
  if (!isRequest(body) || body.method === 'initialize' || body.params?._meta !== undefined) return false;
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return false;
  // The message has the members jsonrpc, id and method. The SDK refuses messages with unknown members.
  return Object.keys(body).length === ('params' in body ? 4 : 3);
}

/** First revision with structured responses. Since then, clients also send their revision in a header. */
const STRUCTURED = '2025-06-18';

/**
 * Responds to the 2025 revisions, in JSON if possible. The SDK would respond with a stream to every message, but only
 * tools that send notifications need one. Source: MCP 2025-11-25, "Transports", "Streamable HTTP"; MCP 2025-03-26,
 * "Batching".
 */
async function serveLegacy(ports: McpPorts, inbound: McpRequest): Promise<McpReply> {
  const { headers, body } = inbound;
  // MCP requires clients to accept event streams too. Muster does not, because most of its responses are JSON.
  const { accept = '*/*', 'mcp-protocol-version': version } = headers;
  const client = { era: 'legacy', readsStructure: typeof version === 'string' && version >= STRUCTURED } as const;
  const askSdk = async (request: JSONRPCRequest, responseMode: 'auto' | 'json') => {
    // Only this transport class lets the SDK accept the revision.
    const transport = new PerRequestHTTPServerTransport({ classification: { era: 'legacy' }, responseMode });
    await buildServer(ports, inbound, client).connect(transport);
    return transport.handleMessage(request);
  };
  if (!/\*\/\*|application\/(json|\*)/.test(accept))
    return errorReply(406, HTTP_REJECTED, 'The Accept header must allow application/json.');
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  const requests = messages.filter(isRequest);
  const initializes = messages.some((message) => isRecord(message) && message['method'] === 'initialize');
  if (initializes && messages.length > 1)
    return errorReply(400, INVALID_REQUEST, 'An initialize request must not be part of a batch.');
  if (!initializes && typeof version === 'string' && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    return errorReply(400, HTTP_REJECTED, `Unsupported protocol version. Supported versions: ${supported}.`);
  }
  // Without a session, notifications and responses have no effect, so they are accepted and ignored.
  const [first] = requests;
  if (first === undefined) return { status: 202, json: undefined };
  const asJson = async (request: JSONRPCRequest) =>
    invalidParams(request, 'legacy') ??
    (await respondDirectly(ports, inbound, request, client)) ??
    (await askSdk(request, 'json')).text();
  if (Array.isArray(body)) {
    const json = await respondSequentially(requests, {
      respond: async (request) => ({ json: await asJson(request) }),
      reject: ({ id }, error) => ({ json: JSON.stringify({ jsonrpc: '2.0', id, error: errorObject(error) }) }),
    });
    return { status: 200, json };
  }
  // A client gets a stream only if its Accept header names event streams.
  const isStreamed = canSendNotifications(inbound, first) && accept.includes('text/event-stream');
  if (isStreamed && invalidParams(first, 'legacy') === undefined) return askSdk(first, 'auto');
  return { status: 200, json: await asJson(first) };
}

function isRequest(message: unknown): message is JSONRPCRequest {
  return isRecord(message) && 'method' in message && 'id' in message;
}

type ModernRequest = Extract<InboundModernRoute, { messageKind: 'request' }>;
type StandardHeaders = Omit<InboundHttpRequest, 'httpMethod' | 'body'>;

/**
 * Returns whether respondDirectly can serve a 2026-07-28 request: a `tools/list`, or a `tools/call` that sends no
 * notifications, whose headers match the message. The SDK checks nothing else. Its handler serves all other requests,
 * and returns the errors.
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
  if (mcpNameHeader !== message.params?.['name'] || canSendNotifications(inbound, message)) return false;
  const tool = inbound.selected.findTool(mcpNameHeader)?.tool;
  return (
    tool === undefined || !mayNeedApproval(tool) || elicitationOf({ envelope: message.params['_meta'] }) === undefined
  );
}

function canSendNotifications({ selected }: McpRequest, { method, params = {} }: JSONRPCRequest): boolean {
  const { name, arguments: given } = params;
  if (method !== 'tools/call' || typeof name !== 'string') return false;
  const notifies = selected.findTool(name)?.tool.notifies;
  return notifies === true || (notifies !== undefined && isRecord(given) && Boolean(given[notifies]));
}

const STANDARD_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

function standardHeaders(headers: IncomingHttpHeaders): StandardHeaders {
  const [version, called, named] = STANDARD_HEADERS.map((name) => headers[name]);
  return {
    ...(typeof version === 'string' && { protocolVersionHeader: version }),
    ...(typeof called === 'string' && { mcpMethodHeader: called }),
    ...(typeof named === 'string' && { mcpNameHeader: named }),
  };
}

/** Returns a Request for the SDK. The SDK requires a URL but does not use it. The parsed body is sent separately. */
function modernRequest(sent: IncomingHttpHeaders): Request {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of STANDARD_HEADERS) if (sent[name] !== undefined) headers.set(name, String(sent[name]));
  return new Request('http://muster.invalid/mcp', { method: 'POST', headers });
}

const INITIALIZE = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

const SCHEMAS = new Map<string, z.ZodType>([
  ['tools/call', CALL],
  ['tools/list', PAGE],
  ['prompts/get', PROMPT],
  ['initialize', INITIALIZE],
]);

/** Returns the error for invalid params; undefined if they are valid. The SDK's own errors would be unclear. */
function invalidParams({ id, method, params = {} }: JSONRPCRequest, era: Era): string | undefined {
  const refusal = (message: string) => JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message } });
  const unstorable = limitFault(method, params);
  if (unstorable !== undefined) return refusal(unstorable);
  if (method === 'initialize' && era === 'modern') return undefined;
  const checked = SCHEMAS.get(method)?.safeParse(params);
  if (checked === undefined || checked.success) return undefined;
  const wrong = checked.error.issues.map((issue) => {
    const name = `"${issue.path.join('.')}"`;
    if (valueAt(params, issue.path) !== undefined) return `${name}: ${issue.message}`;
    return `${name} is missing${issue.code === 'invalid_type' ? `, expected ${issue.expected}` : ''}`;
  });
  return refusal(`Invalid params for ${method}: ${wrong.join('; ')}.`);
}

/** Returns what is wrong if params exceed the JSON limits. The arguments of a tool are checked when it is called. */
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
 * Applies the rate limit to the messages to which it is not applied elsewhere: pings, lists, notifications, and
 * requests for unknown methods, tools or resources. So each message counts exactly once.
 * @throws MusterError RATE_LIMITED before any message is run
 */
async function chargeRateLimit({ limits }: CallPorts, routed: RoutedRequest, body: unknown): Promise<void> {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages)
    if (!isChargedPerCall(routed, message)) await limits.take(routed.requestContext.principal);
}

function isChargedPerCall({ selected }: RoutedRequest, message: unknown): boolean {
  if (!isRecord(message) || !('id' in message) || !isRecord(message['params'])) return false;
  const { name, uri, arguments: given = {} } = message['params'];
  if (message['method'] === 'tools/call')
    return typeof name === 'string' && isRecord(given) && selected.findTool(name) !== undefined;
  return (
    message['method'] === 'resources/read' && typeof uri === 'string' && selected.resources.find(uri) !== undefined
  );
}
