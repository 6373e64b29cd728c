/**
 * The binding to the MCP SDK: serves one JSON-RPC message in whichever era it speaks, without a session.
 * A low-level `Server` is made per request over definitions that were prepared once.
 * Source: design, section 2; the SDK's docs/serving/http.md and docs/advanced/low-level-server.md.
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  classifyInboundRequest,
  createMcpHandler,
  INVALID_PARAMS,
  type InboundHttpRequest,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ERROR_CODES, MusterError } from '../domain/errors.ts';
import { type CallPorts, callTool, type Exchange, readResource } from './call.ts';
import type { Catalogue } from './catalogue.ts';
import { shownName } from './structure.ts';

/** A request whose credential, origin and size have been checked and whose body has been parsed. */
export interface McpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** Makes the signal that the client has gone away. */
  gone(): AbortSignal;
  readonly exchange: Exchange;
  /** What the caller is shown. */
  readonly listed: Catalogue;
  /** What the URL selects, where a call is looked up: more than `listed` for a restricted principal. */
  readonly selected: Catalogue;
}

/** Serves MCP requests. */
export type McpServer = (request: McpRequest) => Promise<Response>;

/** Clients may keep lists this long. They change with a deployment only. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const;

const CACHE_HINTS: NonNullable<ServerOptions['cacheHints']> = {
  'tools/list': LIST_CACHE,
  'resources/list': LIST_CACHE,
  'resources/templates/list': LIST_CACHE,
  'server/discover': LIST_CACHE,
};

type Identity = ConstructorParameters<typeof Server>[0];

export function createMcpServer(ports: CallPorts, version: string): McpServer {
  const identity = { name: 'muster', title: 'Muster', version };
  const served = new WeakMap<Request, McpRequest>();
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const inbound = requestInfo && served.get(requestInfo);
      if (inbound === undefined) throw new Error('A request reached the MCP handler on no known way.');
      return buildServer(ports, identity, inbound);
    },
    { legacy: 'reject', onerror: (error) => ports.log.warn('mcp_refused', { error: error.message }) },
  );
  return async (inbound) => {
    const { body } = inbound;
    const headers = standardHeaders(inbound.headers);
    if (classifyInboundRequest({ httpMethod: 'POST', ...headers, body }).kind === 'legacy') {
      return serveLegacy(buildServer(ports, identity, inbound), requestOf(inbound), body);
    }
    const request = requestOf(inbound, inbound.gone());
    served.set(request, inbound);
    return modern.fetch(request, { parsedBody: body });
  };
}

function standardHeaders(headers: IncomingHttpHeaders): Omit<InboundHttpRequest, 'httpMethod' | 'body'> {
  const version = headers['mcp-protocol-version'];
  const called = headers['mcp-method'];
  const named = headers['mcp-name'];
  return {
    ...(typeof version === 'string' && { protocolVersionHeader: version }),
    ...(typeof called === 'string' && { mcpMethodHeader: called }),
    ...(typeof named === 'string' && { mcpNameHeader: named }),
  };
}

const FORWARDED_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/**
 * The request as the SDK wants to see it, without its body, which is handed over parsed. What it asks of
 * the content type has been checked; a client that accepts anything accepts the two that MCP asks for.
 */
function requestOf({ headers }: McpRequest, signal?: AbortSignal): Request {
  const accept = headers.accept === undefined || headers.accept === '*/*' ? ACCEPT_BOTH : headers.accept;
  const forwarded = new Headers({ 'content-type': 'application/json', accept });
  for (const name of FORWARDED_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') forwarded.set(name, value);
  }
  return new Request(NOWHERE, { method: 'POST', headers: forwarded, ...(signal && { signal }) });
}

const ACCEPT_BOTH = 'application/json, text/event-stream';

/** A `Request` must have a URL; nothing reads it. */
const NOWHERE = 'http://muster.invalid/mcp';

/**
 * The 2025 revisions, statelessly and with JSON answers: no tool here sends anything before its result, so
 * the stream that the SDK's own stateless serving opens would carry one message.
 */
async function serveLegacy(server: Server, request: Request, body: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: withoutCancellations(body) });
  } finally {
    await server.close();
  }
}

/**
 * A cancellation can only mean a message of its own batch here, and the SDK answers a cancelled request
 * never, for which the batch would wait.
 */
function withoutCancellations(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  return body.filter((message: unknown) => !isCancellation(message));
}

function isCancellation(message: unknown): boolean {
  return (
    typeof message === 'object' && message !== null && 'method' in message && message.method === 'notifications/cancelled'
  );
}

/** No list here has a second page, so no cursor can be one of ours. */
const PAGE = z.looseObject({ cursor: z.undefined('unknown cursor: the list has one page').optional() });

const CALL = z.looseObject({
  name: z.string(),
  arguments: z.custom<Readonly<Record<string, unknown>>>(isRecord, 'expected an object').optional(),
});

const READ = z.looseObject({ uri: z.string() });

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The SDK checks `params` by these and not by its own schemas, whose refusals it reports as internal. */
function buildServer(ports: CallPorts, identity: Identity, inbound: McpRequest): Server {
  const { exchange, listed, selected } = inbound;
  const hasResources = listed.resources.length > 0;
  const server = new Server(identity, {
    capabilities: { tools: {}, ...(hasResources && { resources: {} }) },
    instructions: listed.instructions,
    cacheHints: CACHE_HINTS,
  });
  server.setRequestHandler('tools/list', { params: PAGE }, () => ({ tools: listed.tools }));
  server.setRequestHandler('tools/call', { params: CALL }, async ({ name, arguments: rawArguments }) => {
    const found = selected.findTool(name);
    if (found === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${shownName(name)}`);
    return { ...(await callTool(ports, exchange, found, rawArguments ?? {})) };
  });
  if (hasResources) addResources(server, ports, inbound);
  return server;
}

function addResources(server: Server, ports: CallPorts, { exchange, listed, selected }: McpRequest): void {
  server.setRequestHandler('resources/list', { params: PAGE }, () => ({ resources: listed.resources }));
  server.setRequestHandler('resources/templates/list', { params: PAGE }, () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', { params: READ }, async ({ uri }) => {
    const found = selected.findResource(uri);
    if (found === undefined) throw new ResourceNotFoundError(shownName(uri));
    try {
      const text = await readResource(ports, exchange, found);
      return { contents: [{ uri, mimeType: found.resource.mimeType, text }] };
    } catch (error) {
      throw error instanceof MusterError ? new ProtocolError(ERROR_CODES[error.code], error.message) : error;
    }
  });
}
