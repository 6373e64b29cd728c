/**
 * Reads a request's body within bounds of length and time, and only when it is asked to, since nothing in front has
 * touched it (entry/http.ts).
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { shownName } from '../../kernel/errors.ts';
import type { Arrived } from './pipeline.ts';
import { type Refusal, refusal } from './refusal.ts';

export interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Source: docs/guides/operating.md#size-limits. A line of 1.2 Mbit/s carries that much in that time. */
const BODY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, milliseconds: 30_000 };

/** Refuses a body by its headers, before any of it is read. */
export function bodyHeaders({ request }: Arrived): void {
  if (request.method === 'POST') checkBodyHeaders(request);
}

export interface ReadBody {
  readonly bytes: Buffer;
}

/** Reads the body. */
export async function body({ request, response }: Arrived): Promise<ReadBody> {
  return { bytes: await readBody(request, response) };
}

/**
 * Looks at what the headers tell of the body, before any of it is read.
 * @throws Refusal
 */
export function checkBodyHeaders(request: IncomingMessage, limits: BodyLimits = BODY_LIMITS): void {
  const length = Number(sentHeader(request, 'content-length') ?? 0);
  if (length > limits.bytes) throw tooLong(limits, `this one has ${length}`);
  const encoding = (request.headers['content-encoding'] ?? '').trim();
  if (encoding === '' || encoding.toLowerCase() === 'identity') return;
  const what = `A body is taken as it is, and this one is encoded (${shownName(encoding)}): send it without Content-Encoding.`;
  throw refusal(415, what, { headers: { 'Accept-Encoding': 'identity' } });
}

/** Of each body, so that a small one finds room whatever others hold: at 80 requests at once these are 5 MiB. */
const FREE_BYTES = 64 * 1024;

/** An instance has 512 MiB, of which it takes a third for itself, and what is made of a body as much again. */
const ROOM_BYTES = 96 * 1024 * 1024;

/** What the bodies of all requests under way may hold of an instance's memory together. */
export class BodyRoom {
  private readonly bytes: number;
  private held = 0;

  constructor(bytes = ROOM_BYTES) {
    this.bytes = bytes;
  }

  /**
   * Holds the room of one body until its request has been answered.
   * @returns asks for room for so many bytes in all; false where there is none
   */
  open(response: ServerResponse): (bytes: number) => boolean {
    let own = 0;
    let isOver = response.closed;
    response.once('close', () => {
      isOver = true;
      this.held -= own;
    });
    return (bytes) => {
      const more = Math.max(0, bytes - FREE_BYTES) - own;
      if (isOver || (more > 0 && this.held + more > this.bytes)) return false;
      this.held += more;
      own += more;
      return true;
    };
  }
}

/** This instance's. */
const ROOM = new BodyRoom();

/**
 * The body's bytes.
 * @throws Refusal where it is too long, comes too slowly or breaks off, or where others hold all the room
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits = BODY_LIMITS,
  room: BodyRoom = ROOM,
): Promise<Buffer> {
  if (/\b100-continue\b/i.test(sentHeader(request, 'expect') ?? '')) response.writeContinue();
  const chunks: Buffer[] = [];
  const findsRoom = room.open(response);
  const end = await consume(request, limits, (chunk, length) => {
    chunks.push(chunk);
    return findsRoom(length);
  });
  const [only] = chunks;
  if (end === 'whole') return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
  // What has been read is of no use any more, and the rest may be long in coming.
  chunks.length = 0;
  if (end === 'too long') throw tooLong(limits, 'this one goes on');
  if (end === 'gone') throw refusal(400, 'The body broke off.');
  if (end === 'no room') throw refusal(429, NO_ROOM, { headers: { 'Retry-After': '1' } });
  const seconds = limits.milliseconds / 1000;
  const late = `The body has not come within ${seconds} seconds. Nothing was done: send the request again.`;
  throw refusal(408, late);
}

const NO_ROOM =
  'Too many large requests are under way at this instance. Nothing was done: send this one again in a second.';

function tooLong({ bytes }: BodyLimits, what: string): Refusal {
  const how = 'Send less at once: several requests, or smaller values.';
  return refusal(413, `A request may have ${bytes} bytes, and ${what}. ${how}`);
}

/** A header as it was sent: entry/http.ts hides some from what is in front. */
function sentHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  const at = rawHeaders.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
  return at < 0 ? undefined : rawHeaders[at + 1];
}

type End = 'whole' | 'too long' | 'too slow' | 'no room' | 'gone';

/**
 * Reads until the body ends or a limit is met; then nothing more is read. Never fails.
 * @param take is given each chunk and how long the body is with it; false where there is no room for it
 */
export function consume(
  request: IncomingMessage,
  { bytes, milliseconds }: BodyLimits,
  take: (chunk: Buffer, length: number) => boolean,
): Promise<End> {
  return new Promise((resolve) => {
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytes) finish('too long');
      else if (!take(chunk, length)) finish('no room');
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
