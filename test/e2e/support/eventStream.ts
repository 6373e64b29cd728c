/** Reads an event stream of `/mcp/events` frame by frame. */
import assert from 'node:assert/strict';
import { isRecord } from './clients.ts';
import { endpointUrl } from './endpoint.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Timeout for the next frame. If an event was written, its frame arrives earlier. */
const PATIENCE_MS = 30_000;

export interface Frame {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: string;
}

export interface EventStream {
  /** Returns the next frame, or undefined at the end of the stream. */
  next(): Promise<Frame | undefined>;
  /** Returns the params of the first `firebase.event` notification that matches. */
  until(fits: (event: Fields) => boolean): Promise<Fields>;
  close(): Promise<void>;
}

export interface From {
  readonly subscriptionId: string;
  readonly lastEventId?: string;
}

/** @throws Error if the response is not an event stream */
export async function openEvents(token: string, { subscriptionId, lastEventId }: From): Promise<EventStream> {
  const abort = new AbortController();
  const response = await fetch(endpointUrl('/events', { subscriptionId }), {
    signal: abort.signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const frames = framesOf(response.body);
  const next = async () => {
    const timer = setTimeout(() => abort.abort(new Error('timeout while waiting for a frame')), PATIENCE_MS);
    const { value, done } = await frames.next().finally(() => clearTimeout(timer));
    return done ? undefined : value;
  };
  return {
    next,
    async until(fits) {
      for (let frame = await next(); frame !== undefined; frame = await next()) {
        const event = eventIn(frame);
        if (event !== undefined && fits(event)) return event;
      }
      throw new Error('The stream ended without the event.');
    },
    async close() {
      abort.abort();
      await frames.return(undefined).catch(() => undefined);
    },
  };
}

/** Returns the event of a frame, or undefined if the frame is not a message. */
export function eventIn({ type, data }: Frame): Fields | undefined {
  if (type !== 'message') return undefined;
  const message: unknown = JSON.parse(data);
  assert.ok(isRecord(message) && isRecord(message['params']));
  assert.deepEqual([message['jsonrpc'], message['method']], ['2.0', 'firebase.event']);
  assert.equal('id' in message, false, 'a notification has no id');
  return message['params'];
}

/** Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, "Interpreting an event stream". */
async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame, undefined> {
  let buffered = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    buffered += text;
    const blocks = buffered.split('\n\n');
    buffered = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = frameIn(block);
      if (frame !== undefined) yield frame;
    }
  }
  return undefined;
}

function frameIn(block: string): Frame | undefined {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line)?.slice(1));
  const all = (name: string) => fields.filter((field) => field?.[0] === name).map((field) => field?.[1] ?? '');
  const data = all('data');
  if (data.length === 0) return undefined;
  return { id: all('id').at(-1), type: all('event').at(-1) ?? 'message', data: data.join('\n') };
}
