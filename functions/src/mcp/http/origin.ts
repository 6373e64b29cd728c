/** Which web pages may call. Source: Fetch Standard, "CORS protocol"; docs/semantics.md#the-endpoint. */

import type { Arrived } from './pipeline.ts';
import { refusal } from './refusal.ts';
import type { Routed } from './route.ts';

/** Refuses web pages of other origins, and lets those of allowed origins read every later answer. */
export function origin({ request, response, deployment }: Arrived): void {
  const { origin: sent, host } = request.headers;
  if (sent === undefined) return;
  if (!isAllowedOrigin(sent, host, deployment.allowedOrigins)) {
    const why =
      'Pages of this origin may not call. Whoever runs the deployment can add it to ALLOWED_ORIGINS.';
    throw refusal(403, why);
  }
  response.setHeaders(corsHeaders(sent));
}

/** Answers the request by which a browser asks what the page may send. */
export function preflight({ request, response, method }: Arrived & Routed): boolean {
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

/** What MCP's clients send beyond the headers that every page may send. */
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, ' +
  'X-MCP-Readonly, X-MCP-Toolsets';

const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a page of that origin may call. Clients that are no browser send no `Origin` and pass: this protects a
 * person whose browser holds a page that means harm. The page's own host passes only over https: plain http is where
 * DNS rebinding can make a foreign page's host look like ours.
 * Source: docs/semantics.md#the-endpoint; MCP 2025-11-25, "Streamable HTTP", security warning.
 */
export function isAllowedOrigin(
  origin: string,
  host: string | undefined,
  configured: readonly string[],
): boolean {
  if (configured.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.protocol === 'https:' && url.host === host) return true;
  return (url.protocol === 'http:' || url.protocol === 'https:') && LOCAL_HOSTS.includes(url.hostname);
}

/** The headers of every answer to a page that may call. */
function corsHeaders(origin: string): Map<string, string> {
  return new Map([
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After, MCP-Protocol-Version'],
    ['Vary', 'Origin'],
  ]);
}
