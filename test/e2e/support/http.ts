/** Plain HTTP requests to the endpoint, including requests that a correct client never sends. */

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or undefined if it is not JSON. */
  readonly json: unknown;
}

/** Timeout that includes the start of an instance. */
const PATIENCE_MS = 30_000;

export async function send(url: string, init: RequestInit): Promise<HttpResponse> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the headers that a client of the 2025 revisions sends. */
export function headersFor(token: string): Record<string, string> {
  return {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
}

export function post(
  url: string,
  token: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  return send(url, { method: 'POST', headers: { ...headersFor(token), ...headers }, body });
}

/** Sends one JSON-RPC request, without a previous handshake. */
export function request(
  url: string,
  token: string,
  method: string,
  { params = {} }: { readonly params?: unknown } = {},
): Promise<HttpResponse> {
  return post(url, token, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
}
