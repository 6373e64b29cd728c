import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Caller, callerOf } from '../caller.ts';
import { HttpError } from './errors.ts';

export interface RestRequest {
  readonly method: string;
  readonly pathname: string;
  readonly parameters: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly caller: Caller;
  readonly namespace: string;
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** `body` is sent as text, without conversion to JSON. */
  readonly isText?: boolean;
}

export async function readRequest(message: IncomingMessage): Promise<RestRequest> {
  const url = new URL(message.url ?? '/', 'http://localhost');
  const parameters = url.searchParams;
  const { headers } = message;
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  const caller = callerOf(parameters.get('auth') ?? parameters.get('access_token') ?? bearer);
  const body = await text(message);
  if (!caller) throw new HttpError(401, 'Could not parse auth token.');
  return {
    method: String(headers['x-http-method-override'] ?? message.method).toUpperCase(),
    pathname: decodeURIComponent(url.pathname),
    parameters,
    headers,
    caller,
    namespace: parameters.get('ns') ?? namespaceOfHost(headers.host ?? ''),
    body,
  };
}

/** Returns the namespace in a host name, as in `my-namespace.localhost:9000`. */
function namespaceOfHost(host: string): string {
  const [first = '', ...rest] = host.split('.');
  return rest.length > 0 && !/^\d+$/.test(first) ? first : 'fake-server';
}

export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new HttpError(400, "Invalid data; couldn't parse JSON object, array, or value.");
  }
}
