/**
 * Which web pages may call, and the CORS headers that let a browser do it. Clients that are no browser send
 * no `Origin` and pass: this protects a person whose browser holds a page that means harm.
 * Source: docs/semantics.md#the-endpoint; MCP 2025-11-25, "Streamable HTTP", security warning.
 */

const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** What MCP's clients send beyond the headers that every page may send. */
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'X-MCP-Readonly',
  'X-MCP-Toolsets',
].join(', ');

/**
 * Whether a page of that origin may call. Its own host passes only over https: plain http is where DNS
 * rebinding can make a foreign page's host look like ours.
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
export function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After, MCP-Protocol-Version',
    Vary: 'Origin',
  };
}

/**
 * The headers of an answer to a preflight request, beside `corsHeaders`.
 * @param method the one method that the path takes
 */
export function preflightHeaders(method: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': '7200',
  };
}
