/**
 * Reads a request's body within bounds of length and time, and only when it is asked to: nothing in front has
 * touched it (entry/http.ts). Both functions that take bodies from outside read them here.
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { shownName } from '../validation.ts';
import type { Endpoint } from './http.ts';
import { Refusal, refusal } from './refusal.ts';

interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Source: docs/guides/limits-and-metrics.md. A line of 1.2 Mbit/s carries that much in that time. */
const BODY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, milliseconds: 30_000 };

/** What is read away of a body that was refused. Cloud Run lets no more through; then the connection is cut. */
const REST_LIMITS: BodyLimits = { bytes: 32 * 1024 * 1024, milliseconds: 5000 };

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
  throw refusal(415, what, { 'Accept-Encoding': 'identity' });
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
  const [only, ...others] = chunks;
  if (end === 'whole') return only !== undefined && others.length === 0 ? only : Buffer.concat(chunks);
  // What has been read is of no use any more, and the rest may be long in coming.
  chunks.length = 0;
  if (end === 'too long') throw tooLong(limits, 'this one goes on');
  if (end === 'gone') throw refusal(400, 'The body broke off.');
  if (end === 'no room') throw refusal(429, NO_ROOM, { 'Retry-After': '1' });
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
function consume(
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

interface Receiver {
  /** @param received its `body` gives the bytes as they came, and rejects where the delivery cannot be taken */
  receive(received: {
    readonly method: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: () => Promise<Uint8Array>;
  }): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * GitHub lets deliveries be 25 MiB, for pushes of many commits. Those of pull requests and checks, which are
 * all that is read here, hold a few texts of 64 KiB at most. It waits ten seconds for an answer.
 * Source: https://docs.github.com/webhooks/webhook-events-and-payloads, "Payload cap";
 * https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks
 */
const DELIVERY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, milliseconds: 10_000 };

/** The HTTP face of a webhook: a delivery is read within bounds, and only once its receiver wants it. */
export function createDeliveryEndpoint(receiver: Receiver): Endpoint {
  return async (request, response) => {
    const { method = '', headers } = request;
    const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
    const body = async () => {
      checkBodyHeaders(request, DELIVERY_LIMITS);
      return readBody(request, response, DELIVERY_LIMITS);
    };
    try {
      const { status, text } = await receiver.receive({ method, headers, body });
      answerEarly(request, response, { status, headers: plain, body: text });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, message } = error;
      answerEarly(request, response, { status, headers: { ...error.headers, ...plain }, body: message });
    }
  };
}
