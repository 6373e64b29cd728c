/** The answers that a request gets before it reaches the MCP server, and which web pages may call. */
import { ERROR_CODES, type ErrorCode, type MusterError } from '../../kernel/errors.ts';

/** The JSON-RPC code for what only HTTP can name. Source: JSON-RPC 2.0, "Error object", server errors. */
export const HTTP_REFUSED = -32000;

type Headers = Readonly<Record<string, string>>;

/** An HTTP answer in place of a result. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: object;
  readonly headers: Headers;

  constructor(status: number, message: string, body: object, headers: Headers = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/**
 * @param code where the status alone would not say it
 * @param id the message's, where it is known which one is refused
 */
export function refusal(
  status: number,
  message: string,
  headers: Headers = {},
  code: number = HTTP_REFUSED,
  id: string | number | null = null,
): Refusal {
  return new Refusal(status, message, { jsonrpc: '2.0', error: { code, message }, id }, headers);
}

/** There is nothing at the path: says what there is. */
export function notFound(paths: readonly string[]): Refusal {
  const message = 'There is nothing at this path. Take one of the endpoints: /mcp has everything.';
  return new Refusal(404, message, { error: message, endpoints: paths });
}

/** Where a client finds out how one signs in, and what it then asks for. Source: RFC 9728, section 5.1. */
export interface Challenge {
  readonly metadataUrl: string;
  readonly scope: string;
}

/**
 * @param sent whether a credential came at all
 * Source: RFC 6750, section 3.
 */
export function unauthorised(
  message: string,
  code: ErrorCode,
  sent: { readonly challenge: Challenge | undefined; readonly isGiven: boolean },
): Refusal {
  const error = sent.isGiven ? { error: 'invalid_token', error_description: message } : {};
  return refusal(
    401,
    message,
    { 'WWW-Authenticate': challengeText(sent.challenge, error) },
    ERROR_CODES[code],
  );
}

/** The credential is good, and opens less than is asked for. */
export function insufficientScope(error: MusterError, challenge: Challenge | undefined): Refusal {
  const { status, message, body } = refusalOf(error);
  const text = challengeText(challenge, { error: 'insufficient_scope', error_description: message });
  return new Refusal(status, message, body, { 'WWW-Authenticate': text });
}

function challengeText(challenge: Challenge | undefined, error: Readonly<Record<string, string>>): string {
  const where = challenge && { resource_metadata: challenge.metadataUrl, scope: challenge.scope };
  const parameters = Object.entries({ realm: 'muster', ...where, ...error });
  return `Bearer ${parameters.map(([name, value]) => `${name}="${quotable(value)}"`).join(', ')}`;
}

function quotable(text: string): string {
  return text.replace(/[^ !#-[\]-~]/g, '?');
}

const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  UNAUTHORIZED: 401,
  TOKEN_EXPIRED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  FIREBASE_ERROR: 503,
  TIMEOUT: 504,
  INTERNAL: 500,
};

/** An error that concerns the request as a whole. */
export function refusalOf({ code, message, details }: MusterError): Refusal {
  const { suggestion, retryAfter } = details;
  const whole = suggestion === undefined ? message : `${message} ${suggestion}`;
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return refusal(STATUSES[code] ?? 400, whole, headers, ERROR_CODES[code]);
}

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
export function corsHeaders(origin: string): Map<string, string> {
  return new Map([
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After, MCP-Protocol-Version'],
    ['Vary', 'Origin'],
  ]);
}

/** What MCP's clients send beyond the headers that every page may send. */
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, ' +
  'X-MCP-Readonly, X-MCP-Toolsets';

/**
 * The headers of an answer to a preflight request, beside `corsHeaders`.
 * @param method the one method that the path takes
 */
export function preflightHeaders(method: string): Headers {
  return {
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': '7200',
  };
}
