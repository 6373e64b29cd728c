/** Sends responses: JSON, compressed if the client accepts it, streams, and rejections. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { HttpRejection } from './rejection.ts';
import { type BodyLimits, drainBody, headerOf } from './request.ts';

/** Response of the MCP server: JSON, a status without a body, or a stream. */
export type McpReply = JsonReply | Response;

export interface JsonReply {
  readonly status: number;
  /** Undefined for a response without a body, such as the response to a notification. */
  readonly json: string | Buffer | undefined;
}

/** Returns a response with a JSON-RPC error that belongs to no message id. */
export function errorReply(status: number, code: number, message: string): JsonReply {
  return { status, json: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }) };
}

const JSON_TYPE = { 'Content-Type': 'application/json' } as const;

/** Bodies below this many bytes are not compressed, because the additional headers would outweigh the gain. */
const MIN_COMPRESSED_BYTES = 1024;

/** Sends the MCP server's response. */
export async function send(request: IncomingMessage, response: ServerResponse, reply: McpReply): Promise<void> {
  if (reply instanceof Response) {
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    if (reply.body === null) return void response.end();
    return pipe(Readable.fromWeb(reply.body), response);
  }
  const { status, json } = reply;
  if (json === undefined) return void response.writeHead(status).end();
  const { body, encoding, varies } = await compressed(request, json);
  if (varies) response.appendHeader('Vary', 'Accept-Encoding');
  const encoded = encoding && { 'Content-Encoding': encoding };
  response.writeHead(status, { ...JSON_TYPE, ...encoded, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Returns the body in the encoding that the client prefers. `varies`: whether the result depends on the client. */
export async function compressed(request: IncomingMessage, body: Json) {
  const varies = Buffer.byteLength(body) >= MIN_COMPRESSED_BYTES;
  const encoding = varies ? encodingFor(headerOf(request, 'accept-encoding')) : undefined;
  return { body: encoding === undefined ? body : await COMPRESS[encoding](body), encoding, varies };
}

/** Sends events as fast as the client reads them, until they end or the client disconnects. */
export function sendEvents(response: ServerResponse, frames: AsyncIterable<string>): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  });
  return pipe(Readable.from(frames), response);
}

/** If the client disconnects, the pipeline fails. This error is ignored. */
function pipe(source: Readable, response: ServerResponse): Promise<void> {
  return pipeline(source, response).catch(() => void response.destroy());
}

/** Limits for reading the rest of a rejected body; then the connection is closed. Cloud Run accepts 32 MiB. */
const REST_LIMITS: BodyLimits = { bytes: 32 * 1024 * 1024, milliseconds: 5000 };

/**
 * Responds before the body was read completely. The rest is then read within limits and discarded, because a client
 * that sends its whole body before it reads would otherwise get a connection reset and no response.
 */
export function respondEarly(
  request: IncomingMessage,
  response: ServerResponse,
  answer: { status: number; headers: Readonly<Record<string, string>>; body: string | Buffer },
): void {
  const { status, headers, body } = answer;
  const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...length });
  if (request.complete || request.destroyed) return void response.end(body);
  response.write(body);
  void drainBody(request, REST_LIMITS, () => true).then((end) => {
    response.end();
    if (end !== 'whole') request.destroy();
  });
}

export function sendRejection(request: IncomingMessage, response: ServerResponse, refusal: HttpRejection): void {
  if (response.headersSent) return void response.destroy();
  const headers = { ...refusal.headers, ...JSON_TYPE };
  respondEarly(request, response, { status: refusal.status, headers, body: JSON.stringify(refusal.body) });
}

type Json = string | Buffer;

const gzipped = promisify<Json, object, Buffer>(gzip);
const brotli = promisify<Json, object, Buffer>(brotliCompress);

/**
 * Cloud Run and its front end do not compress. Node.js compresses on another thread. Higher levels would take longer
 * and hardly reduce the size. If the client accepts gzip and Brotli equally, gzip is used, because it costs less.
 */
const COMPRESS = {
  gzip: (json: Json) => gzipped(json, { level: constants.Z_BEST_SPEED }),
  br: (json: Json) => brotli(json, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

/** Returns the encoding that the client prefers. Source: RFC 9110, section 12.5.3, "Accept-Encoding". */
export function encodingFor(acceptEncoding: string | undefined): keyof typeof COMPRESS | undefined {
  if (acceptEncoding === undefined) return undefined;
  const weights = new Map(acceptEncoding.split(',').map(weightOf));
  const weight = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? 0;
  return (['gzip', 'br'] as const)
    .filter((name) => weight(name) > 0 && weight(name) >= identity)
    .sort((left, right) => weight(right) - weight(left))[0];
}

/** Returns the name and the weight of an entry such as `gzip;q=0.5`. An invalid weight counts as 0. */
function weightOf(part: string): readonly [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const given = parameters.find((text) => text.startsWith('q='))?.slice('q='.length);
  const weight = given === undefined ? 1 : Number(given);
  return [name, weight >= 0 && weight <= 1 ? weight : 0];
}
