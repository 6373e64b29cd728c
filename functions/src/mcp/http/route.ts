/** Checks and selection by path, query, method and headers. Source: docs/semantics.md#the-endpoint. */
import { isLoopback } from '../../access/rules/addresses.ts';
import { knownPaths, type Protocol, parseSelection, type RoutedSelection } from '../urlSelection.ts';
import type { PipelineRequest } from './pipeline.ts';
import { notFound, rejection } from './rejection.ts';
import { checkBodyHeaders, headerOf } from './request.ts';

export interface Routed {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly selection: RoutedSelection;
  readonly method: 'GET' | 'POST';
  readonly description: string;
}

/** Returns the selection by path, query and headers. @throws HttpRejection for an unknown path */
export function route({ request, front: { toolsetNames: names } }: PipelineRequest): Routed {
  const { url = '/' } = request;
  const [path = '/'] = url.split('?', 1);
  const query = new URLSearchParams(url.slice(path.length + 1));
  const selection = parseSelection({ path, query, header: (name) => headerOf(request, name) }, names);
  if (selection === undefined) throw notFound(knownPaths(names));
  return { path, query, selection, ...PROTOCOLS[selection.protocol] };
}

/** Rejects other HTTP methods. Runs after authentication, because clients may discover sign-in with any method. */
export function method({ request, method: allowed, description }: PipelineRequest & Routed): void {
  if (request.method !== allowed) throw rejection(405, description, { headers: { Allow: allowed } });
}

/** Rejects a request whose headers show that its body is too large or encoded. */
export function bodyHeaders({ request }: PipelineRequest): void {
  if (request.method === 'POST') checkBodyHeaders(request);
}

/** The HTTP method of each protocol, and the text for other methods, which a browser may show to a person. */
const PROTOCOLS: Readonly<Record<Protocol, { method: 'GET' | 'POST'; description: string }>> = {
  mcp: {
    method: 'POST',
    description:
      'This is the address of Muster, a hub for AI agents. It is not a web page: it speaks MCP in POST requests. Add the address to an MCP client and sign in there, or use a key: claude mcp add --transport http muster <this address> --header "Authorization: Bearer <key>". GET opens no streams, and DELETE ends no sessions.',
  },
  rpc: {
    method: 'POST',
    description:
      'This is the plain JSON-RPC 2.0 endpoint of Muster, a hub for AI agents. Call its tools in POST requests. For MCP, use /mcp.',
  },
  events: {
    method: 'GET',
    description: 'This is the event stream of a Muster subscription. Send a GET request with ?subscriptionId=….',
  },
  page: { method: 'GET', description: 'This is a read-only page of a Muster agent. Send a GET request.' },
};

/**
 * Rejects web pages of other origins, and lets pages of allowed origins read the response. Source: Fetch Standard,
 * "CORS protocol"; docs/semantics.md#the-endpoint.
 */
export function origin({ request, response, front }: PipelineRequest): void {
  const { origin: sent, host } = request.headers;
  if (sent === undefined) return;
  if (!isAllowedOrigin(sent, host, front.allowedOrigins)) {
    const why = 'Pages from this origin are not allowed. The operator can add the origin to ALLOWED_ORIGINS.';
    throw rejection(403, why);
  }
  response
    .setHeader('Access-Control-Allow-Origin', sent)
    .setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After, MCP-Protocol-Version')
    .setHeader('Vary', 'Origin');
}

/** Responds to a CORS preflight request, with which browsers ask for permission. */
export function preflight({ request, response, method }: PipelineRequest & Routed): boolean {
  const { origin: sent, 'access-control-request-method': asked } = request.headers;
  if (sent === undefined || request.method !== 'OPTIONS' || asked === undefined) return false;
  response
    .writeHead(204, {
      'Access-Control-Allow-Methods': method,
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': '7200',
    })
    .end();
  return true;
}

/** Headers that MCP clients in web pages send, other than those that every page may send. */
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, ' +
  'X-MCP-Readonly, X-MCP-Toolsets';

/**
 * Returns whether web pages of an origin may call. Clients other than browsers send no `Origin`, and are not checked,
 * because the check protects people from malicious pages in their browsers. A page on the deployment's own host is
 * allowed only if it uses https, because DNS rebinding can fake the host over http. Source:
 * docs/semantics.md#the-endpoint; MCP 2025-11-25, "Streamable HTTP", security warning.
 */
export function isAllowedOrigin(origin: string, host: string | undefined, configured: readonly string[]): boolean {
  if (configured.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.protocol === 'https:' && url.host === host) return true;
  return (url.protocol === 'http:' || url.protocol === 'https:') && isLoopback(url.hostname);
}
