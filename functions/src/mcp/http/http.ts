/**
 * The HTTP face of MCP: route, origin, method, size, credential, message, and then the MCP server.
 * Source: docs/semantics.md#the-endpoint.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MusterError } from '../../kernel/errors.ts';
import type { ServerSentEvent } from '../tool.ts';
import { compressed, encodingFor, MIN_COMPRESSED_BYTES } from './compression.ts';
import { type Refusal, unauthorised } from './refusal.ts';
import { answerEarly } from './requestBody.ts';

/** @param request one whose body nobody has touched */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

// Between Node's requests and answers and what the endpoint works with.

/** A header's one value; the first where it came several times. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;

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
  const host = HOST.test(sentHost) ? sentHost : 'localhost';
  const scheme = headerOf(request, 'x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  const keepsPath = /^\/mcp(?:[/?]|$)/.test(request.url ?? '') || host.endsWith('.cloudfunctions.net');
  return `${scheme}://${host}${mountPath ?? (keepsPath ? '/mcp' : '')}`;
}

const JSON_TYPE = { 'Content-Type': 'application/json' } as const;

/** Sends what the MCP server answers. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: McpReply,
): Promise<void> {
  if (!(reply instanceof Response)) return sendJson(request, response, reply);
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  if (reply.body === null) return void response.end();
  // A client that goes away ends the pipeline early, which is no error of ours.
  await pipeline(Readable.fromWeb(reply.body), response).catch(() => response.destroy());
}

/** Sends a stream as fast as the client takes it, until it ends or the client has gone. */
export async function sendStream(response: ServerResponse, frames: AsyncIterable<string>): Promise<void> {
  response.writeHead(200, { ...STREAM_HEADERS });
  await pipeline(Readable.from(frames), response).catch(() => response.destroy());
}

export function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const headers = { ...refusal.headers, ...JSON_TYPE };
  answerEarly(request, response, { status: refusal.status, headers, body: JSON.stringify(refusal.body) });
}

async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  { status, json }: JsonReply,
): Promise<void> {
  if (json === undefined) return void response.writeHead(status).end();
  const length = Buffer.byteLength(json);
  const isLong = length >= MIN_COMPRESSED_BYTES;
  const encoding = isLong ? encodingFor(headerOf(request, 'accept-encoding')) : undefined;
  if (isLong) response.appendHeader('Vary', 'Accept-Encoding');
  if (encoding === undefined) {
    return void response.writeHead(status, { ...JSON_TYPE, 'Content-Length': length }).end(json);
  }
  const body = await compressed(json, encoding);
  const headers = { ...JSON_TYPE, 'Content-Encoding': encoding, 'Content-Length': body.length };
  response.writeHead(status, headers).end(body);
}

// Takes the credential out of a request, or says what is wrong with how it was sent.

const HOW = 'Send the header "Authorization: Bearer <key>", where <key> is';
const WHICH =
  '"<apiKey>.<secret>" of onboarding.registerAgent or of "npm run agents", or a Firebase ID token.';

/** @throws Refusal where there is none */
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

function missing(what: string): Refusal {
  return unauthorised(`${what} ${HOW} ${WHICH}`, 'UNAUTHORIZED', false);
}

/** @throws Refusal where the credential is to blame, else what came */
export function refuseCredential(error: unknown): never {
  if (!(error instanceof MusterError)) throw error;
  const { code, message, details } = error;
  if (code !== 'UNAUTHORIZED' && code !== 'TOKEN_EXPIRED') throw error;
  throw unauthorised([message, details.suggestion].filter(Boolean).join(' '), code, true);
}

const LONGEST = 45;

/**
 * The address that a request comes from. Google's front end adds the one that it sees to the end of
 * `X-Forwarded-For`, or puts it there alone; what stands before it are the caller's own words. Behind a load
 * balancer or Firebase Hosting it is that one's, and all who come by it count as one.
 * Source: https://cloud.google.com/load-balancing/docs/https, "X-Forwarded-For header";
 * https://pkg.go.dev/k8s.io/registry.k8s.io/pkg/net/clientip, which counts on the same at Cloud Run.
 */
export function addressOf({ headers, socket }: IncomingMessage): string {
  const forwarded = headers['x-forwarded-for'];
  const list = Array.isArray(forwarded) ? forwarded.join() : forwarded;
  const last = list?.slice(list.lastIndexOf(',') + 1).trim();
  return network((last || socket.remoteAddress || '').slice(0, LONGEST));
}

/** Of IPv6 the first half: whoever has one address has all that begin with it. */
function network(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [before = '', after = ''] = address.toLowerCase().split('::', 2);
  const [head, tail] = [before, after].map((part) => part.split(':').filter((group) => group !== ''));
  const missing = address.includes('::') ? 8 - (head?.length ?? 0) - (tail?.length ?? 0) : 0;
  const groups = [
    ...(head ?? []),
    ...Array.from({ length: Math.max(0, missing) }, () => '0'),
    ...(tail ?? []),
  ];
  return groups.slice(0, 4).join(':');
}

/** @throws RangeError for an id or a type that does not fit in a line */
export function frameOf({ id, event, data }: ServerSentEvent): string {
  const fields = [
    ...(event === undefined ? [] : [`event: ${line(event)}`]),
    ...(id === undefined ? [] : [`id: ${line(id)}`]),
    ...data.split(/\r\n|\r|\n/).map((part) => `data: ${part}`),
  ];
  return `${fields.join('\n')}\n\n`;
}

/** How long a client waits before it comes back. */
export function retryFrame(milliseconds: number): string {
  return `retry: ${milliseconds}\n\n`;
}

/** A line that means nothing, for whoever ends connections on which nothing moves. */
export const KEEP_ALIVE_FRAME = ': keep-alive\n\n';

const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

function line(text: string): string {
  if (/[\0\r\n]/.test(text)) throw new RangeError('A field of an event must fit in a line.');
  return text;
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
