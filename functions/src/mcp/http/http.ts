/** Between Node's requests and answers and what the endpoint works with: headers, credential, address, answers. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { MusterError } from '../../kernel/errors.ts';
import { type BodyLimits, consume } from './body.ts';
import { type Refusal, unauthorised } from './refusal.ts';

/** @param request one whose body nobody has touched */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A header's one value; the first where it came several times. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Where the caller finds this deployment. Made from what the caller sent unless configured, so it may be
 * shown to the caller and nothing else.
 */
export function baseUrlOf(
  request: IncomingMessage,
  publicUrl: string | undefined,
  mountPath: string | undefined,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const sentHost = request.headers.host ?? '';
  const host = /^[A-Za-z0-9.:[\]-]{1,255}$/.test(sentHost) ? sentHost : 'localhost';
  const scheme = headerOf(request, 'x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  const keepsPath = /^\/mcp(?:[/?]|$)/.test(request.url ?? '') || host.endsWith('.cloudfunctions.net');
  return `${scheme}://${host}${mountPath ?? (keepsPath ? '/mcp' : '')}`;
}

/**
 * The credential of a request.
 * @throws Refusal where there is none, which says what is wrong with how it was sent
 */
export function credentialOf(authorization: string | undefined): string {
  const [first = '', second, ...others] = (authorization ?? '').trim().split(/ +/);
  if (first === '') throw missing('There is no credential.');
  if (!/^bearer$/i.test(first)) throw missing(withoutBearer(first, second));
  if (second === undefined) throw missing('After "Bearer" there is no credential.');
  if (others.length > 0) throw missing('After "Bearer" there are several words, and a credential is one.');
  if (/[${}<>"']/.test(second)) throw missing(`What comes after "Bearer" is a placeholder or is quoted.`);
  return second;
}

function withoutBearer(first: string, second: string | undefined): string {
  if (second === undefined) return 'The header Authorization lacks the word "Bearer" before the credential.';
  const scheme = /^[A-Za-z-]{1,20}$/.test(first) ? ` "${first}"` : '';
  return `The header Authorization begins with another word${scheme} than "Bearer".`;
}

const HOW =
  'Send the header "Authorization: Bearer <key>", where <key> is "<apiKey>.<secret>" of ' +
  'onboarding.registerAgent or of "npm run agents", or a Firebase ID token.';

function missing(what: string): Refusal {
  return unauthorised(`${what} ${HOW}`, 'UNAUTHORIZED', false);
}

/** @throws Refusal where the credential is to blame, else what came */
export function refuseCredential(error: unknown): never {
  if (!(error instanceof MusterError)) throw error;
  const { code, message, details } = error;
  if (code !== 'UNAUTHORIZED' && code !== 'TOKEN_EXPIRED') throw error;
  throw unauthorised([message, details.suggestion].filter(Boolean).join(' '), code, true);
}

const LONGEST_ADDRESS = 45;

/**
 * The address that a request comes from. Google's front end adds the one that it sees to the end of
 * `X-Forwarded-For`, or puts it there alone; what stands before it are the caller's own words. Behind a load
 * balancer or Firebase Hosting it is that one's, and all who come by it count as one.
 * Source: https://cloud.google.com/load-balancing/docs/https, "X-Forwarded-For header";
 * https://pkg.go.dev/k8s.io/registry.k8s.io/pkg/net/clientip, which counts on the same at Cloud Run.
 */
export function addressOf({ headers, socket }: IncomingMessage): string {
  const last = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  return network((last || socket.remoteAddress || '').slice(0, LONGEST_ADDRESS));
}

/** Of IPv6 the first half: whoever has one address has all that begin with it. */
function network(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const parts = address.toLowerCase().split('::', 2);
  const [head = [], tail = []] = parts.map((part) => part.split(':').filter((group) => group !== ''));
  const omitted = address.includes('::') ? Math.max(0, 8 - head.length - tail.length) : 0;
  return [...head, ...Array<string>(omitted).fill('0'), ...tail].slice(0, 4).join(':');
}

/** What the MCP server answers over HTTP: a whole JSON text, nothing, or a stream. */
export type McpReply = JsonReply | Response;

export interface JsonReply {
  readonly status: number;
  /** Undefined where the answer has no body: a notification is only accepted. */
  readonly json: string | Buffer | undefined;
}

/** A JSON-RPC error that concerns a message as a whole. */
export function errorReply(status: number, code: number, message: string): JsonReply {
  return { status, json: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }) };
}

const JSON_TYPE = { 'Content-Type': 'application/json' } as const;

/** Below, the headers are as long as what would be saved. */
const MIN_COMPRESSED_BYTES = 1024;

/** Sends what the MCP server answers. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: McpReply,
): Promise<void> {
  if (reply instanceof Response) {
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    if (reply.body === null) return void response.end();
    return pipe(Readable.fromWeb(reply.body), response);
  }
  const { status, json } = reply;
  if (json === undefined) return void response.writeHead(status).end();
  const length = Buffer.byteLength(json);
  const isLong = length >= MIN_COMPRESSED_BYTES;
  const encoding = isLong ? encodingFor(headerOf(request, 'accept-encoding')) : undefined;
  if (isLong) response.appendHeader('Vary', 'Accept-Encoding');
  if (encoding === undefined) {
    return void response.writeHead(status, { ...JSON_TYPE, 'Content-Length': length }).end(json);
  }
  const body = await COMPRESS[encoding](json);
  const headers = { ...JSON_TYPE, 'Content-Encoding': encoding, 'Content-Length': body.length };
  response.writeHead(status, headers).end(body);
}

/** Sends events as fast as the client takes them, until they end or the client has gone. */
export function sendEvents(response: ServerResponse, frames: AsyncIterable<string>): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  });
  return pipe(Readable.from(frames), response);
}

/** A client that goes away ends the pipeline early, which is no error of ours. */
function pipe(source: Readable, response: ServerResponse): Promise<void> {
  return pipeline(source, response).catch(() => void response.destroy());
}

/** What is read away of a body that was refused. Cloud Run lets no more through; then the connection is cut. */
const REST_LIMITS: BodyLimits = { bytes: 32 * 1024 * 1024, milliseconds: 5000 };

/**
 * Answers at once, whatever of the request's body has come. What still comes is read away after the answer, so
 * that a client which sends everything before it reads finds the answer and not a reset; within bounds, beyond
 * which the connection is cut.
 */
export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: { status: number; headers: Readonly<Record<string, string>>; body: string },
): void {
  const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...length });
  if (request.complete || request.destroyed) return void response.end(body);
  response.write(body);
  void consume(request, REST_LIMITS, () => true).then((end) => {
    response.end();
    if (end !== 'whole') request.destroy();
  });
}

export function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const headers = { ...refusal.headers, ...JSON_TYPE };
  answerEarly(request, response, { status: refusal.status, headers, body: JSON.stringify(refusal.body) });
}

type Json = string | Buffer;

const gzipped = promisify<Json, object, Buffer>(gzip);
const brotli = promisify<Json, object, Buffer>(brotliCompress);

/**
 * Cloud Run and the front end before it do not compress: what an instance sends goes to the client as it is. This
 * compresses on another thread; higher levels take longer and make answers hardly shorter. In the order in which they are taken
 * where the client likes both: gzip costs the instance less.
 */
const COMPRESS = {
  gzip: (json: Json) => gzipped(json, { level: constants.Z_BEST_SPEED }),
  br: (json: Json) => brotli(json, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

/**
 * The encoding that a client likes best, of those that there are; undefined where it wants none of them.
 * Source: RFC 9110, section 12.5.3, "Accept-Encoding".
 */
export function encodingFor(acceptEncoding: string | undefined): keyof typeof COMPRESS | undefined {
  if (acceptEncoding === undefined) return undefined;
  const weights = new Map(acceptEncoding.split(',').map(weightOf));
  const weight = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? 0;
  return (['gzip', 'br'] as const)
    .filter((name) => weight(name) > 0 && weight(name) >= identity)
    .sort((left, right) => weight(right) - weight(left))[0];
}

/** `gzip;q=0.5` gives its name and its weight. A weight that is none counts as 0. */
function weightOf(part: string): readonly [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const given = parameters.find((text) => text.startsWith('q='))?.slice('q='.length);
  const weight = given === undefined ? 1 : Number(given);
  return [name, weight >= 0 && weight <= 1 ? weight : 0];
}
