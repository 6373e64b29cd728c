/** Reads requests: addresses from the headers, and the body within limits. The framework leaves the body unread. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';
import { shownName } from '../../kernel/errors.ts';
import { type HttpRejection, rejection } from './rejection.ts';

/** Handles an HTTP request whose body has not been read yet. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Returns a header's value. If the header was sent several times, returns the first value. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the deployment's URL, for use with this caller only, because the caller's headers may determine it. */
export function baseUrlOf(request: IncomingMessage, addresses: Addresses, mountPath: string | undefined): string {
  if (addresses.main !== undefined) return addresses.main.mcp;
  const sentHost = request.headers.host ?? '';
  const host = /^[A-Za-z0-9.:[\]-]{1,255}$/.test(sentHost) ? sentHost : 'localhost';
  const scheme = headerOf(request, 'x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  const keepsPath = /^\/mcp(?:[/?]|$)/.test(request.url ?? '') || host.endsWith('.cloudfunctions.net');
  return `${scheme}://${host}${mountPath ?? (keepsPath ? '/mcp' : '')}`;
}

const MAX_ADDRESS_LENGTH = 45;

/**
 * Returns the client's address, for rate limits. Google's front end appends the address that it sees to
 * `X-Forwarded-For`, and each proxy in front of it has appended the address that it saw. Earlier entries can be
 * forged by the caller. A header with too few entries means that the request bypassed the proxies. Then the last
 * entry counts, which no caller can forge. Source: https://cloud.google.com/load-balancing/docs/https,
 * "X-Forwarded-For header"; https://pkg.go.dev/k8s.io/registry.k8s.io/pkg/net/clientip, which does the same on Cloud
 * Run.
 * @param trustedProxies the number of the deployment's proxies in front of Google's front end
 */
export function addressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string {
  const entries = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim());
  const seen = entries.at(-1 - trustedProxies) || entries.at(-1) || socket.remoteAddress || '';
  return network(seen.slice(0, MAX_ADDRESS_LENGTH).toLowerCase());
}

/** Returns the /56 network of an IPv6 address, because one customer can use all its addresses. Source: RIPE-690. */
function network(address: string): string {
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':') || address.includes('.')) return address;
  const parts = address.split('::', 2);
  const [head = [], tail = []] = parts.map((part) => part.split(':').filter((group) => group !== ''));
  const omitted = address.includes('::') ? Math.max(0, 8 - head.length - tail.length) : 0;
  const groups = [...head, ...Array<string>(omitted).fill('0'), ...tail].slice(0, 4);
  return groups.map((group, index) => prefixOf(group, index)).join(':');
}

/** Returns those bits of a group of an IPv6 address that are among the first 56 bits of the address. */
function prefixOf(group: string, index: number): string {
  const bits = Number.parseInt(group, 16);
  if (Number.isNaN(bits)) return group;
  return (index === 3 ? bits & 0xff00 : bits).toString(16);
}

export interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Source: docs/guides/operations.md#size-limits. At 1.2 Mbit/s, 4 MiB arrive in less than 30 seconds. */
const BODY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, milliseconds: 30_000 };

/** Checks the headers that describe the body, before the body is read. @throws HttpRejection */
export function checkBodyHeaders(request: IncomingMessage, limits: BodyLimits = BODY_LIMITS): void {
  const length = Number(sentHeader(request, 'content-length') ?? 0);
  if (length > limits.bytes) throw tooLong(limits, `this one has ${length}`);
  const encoding = (request.headers['content-encoding'] ?? '').trim();
  if (encoding === '' || encoding.toLowerCase() === 'identity') return;
  const what = `The request body must not be encoded, but it is (${shownName(encoding)}). Send it without Content-Encoding.`;
  throw rejection(415, what, { headers: { 'Accept-Encoding': 'identity' } });
}

/** Bytes per body that are always accepted. At 80 concurrent requests, these bytes take at most 5 MiB. */
const UNCOUNTED_BYTES = 64 * 1024;

/** Muster itself uses a third of an instance's 512 MiB, and parsing needs as much memory as the bodies. */
const BODY_MEMORY_BYTES = 96 * 1024 * 1024;

/** Limits the memory for the bodies of all current requests of an instance. */
export class BodyMemoryBudget {
  private readonly bytes: number;
  private held = 0;

  constructor(bytes = BODY_MEMORY_BYTES) {
    this.bytes = bytes;
  }

  /** Returns a function that reserves bytes until the response is closed, and returns false if too few are left. */
  open(response: ServerResponse): (bytes: number) => boolean {
    let own = 0;
    let isOver = response.closed;
    response.once('close', () => {
      isOver = true;
      this.held -= own;
    });
    return (bytes) => {
      const more = Math.max(0, bytes - UNCOUNTED_BYTES) - own;
      if (isOver || (more > 0 && this.held + more > this.bytes)) return false;
      this.held += more;
      own += more;
      return true;
    };
  }
}

const BODY_MEMORY = new BodyMemoryBudget();

/** Returns the body. @throws HttpRejection if it is too long, too slow or incomplete, or if memory is short */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits = BODY_LIMITS,
  budget: BodyMemoryBudget = BODY_MEMORY,
): Promise<Buffer> {
  if (/\b100-continue\b/i.test(sentHeader(request, 'expect') ?? '')) response.writeContinue();
  const chunks: Buffer[] = [];
  const findsRoom = budget.open(response);
  const end = await drainBody(request, limits, (chunk, length) => {
    chunks.push(chunk);
    return findsRoom(length);
  });
  const [only] = chunks;
  if (end === 'whole') return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
  // Frees this memory before the response, because the rest of the body may take long to arrive.
  chunks.length = 0;
  if (end === 'too long') throw tooLong(limits, 'this body is larger');
  if (end === 'gone') throw rejection(400, 'The request body is incomplete.');
  if (end === 'no room') throw rejection(429, NO_CAPACITY, { headers: { 'Retry-After': '1' } });
  const seconds = limits.milliseconds / 1000;
  const late = `The request body did not arrive within ${seconds} seconds. Nothing was changed. Retry.`;
  throw rejection(408, late);
}

const NO_CAPACITY = 'Too many large requests are in progress at this instance. Nothing was changed. Retry in a second.';

function tooLong({ bytes }: BodyLimits, what: string): HttpRejection {
  const how = 'Split the body into several requests, or send smaller values.';
  return rejection(413, `The request body is limited to ${bytes} bytes; ${what}. ${how}`);
}

/** Returns a header as the client sent it, because entry/http.ts hides some headers from the framework. */
function sentHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  const at = rawHeaders.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
  return at < 0 ? undefined : rawHeaders[at + 1];
}

type End = 'whole' | 'too long' | 'too slow' | 'no room' | 'gone';

/** Reads until the body ends or exceeds a limit. Never rejects. `onChunk` returns false to stop reading. */
export function drainBody(
  request: IncomingMessage,
  { bytes, milliseconds }: BodyLimits,
  onChunk: (chunk: Buffer, length: number) => boolean,
): Promise<End> {
  return new Promise((resolve) => {
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytes) finish('too long');
      else if (!onChunk(chunk, length)) finish('no room');
    };
    const onEnd = () => finish('whole');
    const onClose = () => finish('gone');
    const timer = setTimeout(() => finish('too slow'), milliseconds);
    function finish(end: End): void {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).pause();
      resolve(end);
    }
    request.on('data', onData).once('end', onEnd).once('close', onClose).resume();
  });
}
