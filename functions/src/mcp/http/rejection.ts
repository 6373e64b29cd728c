/** HTTP responses to requests that are rejected before they reach the MCP server. */
import { ERROR_CODES, type ErrorCode, type MusterError } from '../../kernel/errors.ts';

/** JSON-RPC error code if only the HTTP status describes the error. Source: JSON-RPC 2.0, "Error object". */
export const HTTP_REJECTED = -32000;

type Headers = Readonly<Record<string, string>>;

/** Error that ends a request with the HTTP response that it contains. */
export class HttpRejection extends Error {
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

interface RejectionOptions {
  readonly headers?: Headers;
  /** JSON-RPC error code, if there is a more specific one than the status. */
  readonly code?: number;
  readonly id?: string | number | null;
}

/** Returns an HttpRejection whose body is a JSON-RPC error. */
export function rejection(
  status: number,
  message: string,
  { headers, code = HTTP_REJECTED, id = null }: RejectionOptions = {},
): HttpRejection {
  return new HttpRejection(status, message, { jsonrpc: '2.0', error: { code, message }, id }, headers);
}

/** Returns the response for an unknown path. It lists the known paths. */
export function notFound(paths: readonly string[]): HttpRejection {
  const message = 'Unknown path. Use one of the listed endpoints; /mcp serves every toolset.';
  return new HttpRejection(404, message, { error: message, endpoints: paths });
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

/** Returns the response for an error that concerns the whole request. */
export function rejectionOf({ code, message, details }: MusterError): HttpRejection {
  const { suggestion, retryAfter } = details;
  const whole = suggestion === undefined ? message : `${message} ${suggestion}`;
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return rejection(STATUSES[code] ?? 400, whole, { headers, code: ERROR_CODES[code] });
}
