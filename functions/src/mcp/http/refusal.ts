/** The answers that a request gets before it reaches the MCP server. */
import { ERROR_CODES, type ErrorCode, type MusterError } from '../../kernel/errors.ts';

/** The JSON-RPC code for what only HTTP can name. Source: JSON-RPC 2.0, "Error object", server errors. */
const HTTP_REFUSED = -32000;

/** An HTTP answer in place of a result. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, body: object, headers: Readonly<Record<string, string>> = {}) {
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
  code: number = HTTP_REFUSED,
  headers: Readonly<Record<string, string>> = {},
  id: string | number | null = null,
): Refusal {
  return new Refusal(status, message, { jsonrpc: '2.0', error: { code, message }, id }, headers);
}

/** There is nothing at the path: says what there is. */
export function notFound(paths: readonly string[]): Refusal {
  const message = 'There is nothing at this path. Take one of the endpoints: /mcp has everything.';
  return new Refusal(404, message, { error: message, endpoints: paths });
}

/** @param given whether a credential came at all */
export function unauthorised(message: string, code: ErrorCode, given: boolean): Refusal {
  const detail = given
    ? `, error="invalid_token", error_description="${message.replace(/[^ !#-[\]-~]/g, '?')}"`
    : '';
  return refusal(401, message, ERROR_CODES[code], { 'WWW-Authenticate': `Bearer realm="muster"${detail}` });
}

/** An error that concerns the request as a whole. */
export function refusalOf(error: MusterError): Refusal {
  const { code, message, details } = error;
  const whole = details.suggestion === undefined ? message : `${message} ${details.suggestion}`;
  const { retryAfter } = details;
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return refusal(STATUSES.get(code) ?? 400, whole, ERROR_CODES[code], headers);
}

const STATUSES: ReadonlyMap<ErrorCode, number> = new Map([
  ['UNAUTHORIZED', 401],
  ['TOKEN_EXPIRED', 401],
  ['FORBIDDEN', 403],
  ['NOT_FOUND', 404],
  ['RATE_LIMITED', 429],
  ['FIREBASE_ERROR', 503],
  ['TIMEOUT', 504],
  ['INTERNAL', 500],
]);
