/** The answers that a request gets before it reaches the MCP server. */
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

interface RefusalOptions {
  readonly headers?: Headers;
  /** The JSON-RPC error code, if the status alone would not say it. */
  readonly code?: number;
  /** The id of the refused message, if it is known. */
  readonly id?: string | number | null;
}

/** Makes a refusal whose body is a JSON-RPC error. */
export function refusal(
  status: number,
  message: string,
  { headers, code = HTTP_REFUSED, id = null }: RefusalOptions = {},
): Refusal {
  return new Refusal(status, message, { jsonrpc: '2.0', error: { code, message }, id }, headers);
}

/** There is nothing at the path: says what there is. */
export function notFound(paths: readonly string[]): Refusal {
  const message = 'Unknown path. Use one of the listed endpoints; /mcp serves every toolset.';
  return new Refusal(404, message, { error: message, endpoints: paths });
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
  return refusal(STATUSES[code] ?? 400, whole, { headers, code: ERROR_CODES[code] });
}
