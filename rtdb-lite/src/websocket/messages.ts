/** Validates the messages of clients, which are untrusted JSON. */
import { isRecord } from '../tree/json.ts';
import { splitPath } from '../tree/node.ts';
import type { Query } from '../tree/query.ts';

export interface Request {
  /** Id of the request, which the response repeats. */
  readonly id: unknown;
  readonly action: string;
  readonly body: Body;
}

export interface Body {
  readonly path: readonly string[];
  readonly data: unknown;
  readonly hash: string | undefined;
  readonly query: Query | undefined;
  /** Tag of a query's listener; absent for a listener to a whole path. */
  readonly tag: number | undefined;
  readonly credential: string | undefined;
  readonly isAnonymous: boolean;
  /** `null` means an unauthenticated caller; `undefined` means that the credential identifies the caller. */
  readonly authOverride: object | null | undefined;
}

export type Message = { kind: 'ping' } | { kind: 'control' } | { kind: 'request'; request: Request };

/** Returns `undefined` if the message is invalid. */
export function readMessage(text: string): Message | undefined {
  const message = parsed(text);
  if (!isRecord(message) || !isRecord(message.d)) return undefined;
  if (message.t === 'c') return { kind: message.d.t === 'p' ? 'ping' : 'control' };
  const { r: id, a: action, b: body } = message.d;
  const request = { id, action: textOf(action) ?? '', body: readBody(isRecord(body) ? body : {}) };
  return { kind: 'request', request };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readBody(body: Record<string, unknown>): Body {
  return {
    path: splitPath(textOf(body.p) ?? ''),
    data: body.d,
    hash: textOf(body.h),
    query: isRecord(body.q) ? readQuery(body.q) : undefined,
    tag: typeof body.t === 'number' ? body.t : undefined,
    credential: textOf(body.cred),
    isAnonymous: body.noauth === true,
    authOverride: isRecord(body.authvar) || body.authvar === null ? body.authvar : undefined,
  };
}

function readQuery(query: Record<string, unknown>): Query {
  const { sn, sin, en, ein, l, vf, i } = query;
  return {
    ...('sp' in query && { sp: query.sp }),
    ...(typeof sn === 'string' && { sn }),
    ...(typeof sin === 'boolean' && { sin }),
    ...('ep' in query && { ep: query.ep }),
    ...(typeof en === 'string' && { en }),
    ...(typeof ein === 'boolean' && { ein }),
    ...(typeof l === 'number' && { l }),
    ...(typeof vf === 'string' && { vf }),
    ...(typeof i === 'string' && { i }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
