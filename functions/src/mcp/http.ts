/** Between Node's requests and answers and what the endpoint works with. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { compressed, encodingFor, MIN_COMPRESSED_BYTES } from './compression.ts';
import type { Refusal } from './refusal.ts';
import type { JsonReply, McpReply } from './reply.ts';
import { answerEarly } from './requestBody.ts';
import { STREAM_HEADERS } from './sse.ts';

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
  const length = typeof json === 'string' ? Buffer.byteLength(json) : json.length;
  const isLong = length >= MIN_COMPRESSED_BYTES;
  const encoding = isLong ? encodingFor(headerOf(request, 'accept-encoding')) : undefined;
  if (isLong) response.appendHeader('Vary', 'Accept-Encoding');
  if (encoding === undefined) {
    const body = typeof json === 'string' ? json : json.bytes();
    return void response.writeHead(status, { ...JSON_TYPE, 'Content-Length': length }).end(body);
  }
  const body = await compressed(json, encoding);
  const headers = { ...JSON_TYPE, 'Content-Encoding': encoding, 'Content-Length': body.length };
  response.writeHead(status, headers).end(body);
}
