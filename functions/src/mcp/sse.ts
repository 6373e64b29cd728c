/** Server-sent events as text. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */

export interface ServerSentEvent {
  /** Kept by the client, which sends it as `Last-Event-ID` when it comes back. */
  readonly id?: string;
  /** Its type; `message` where absent. */
  readonly event?: string;
  /** One line or more. */
  readonly data: string;
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

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

function line(text: string): string {
  if (/[\0\r\n]/.test(text)) throw new RangeError('A field of an event must fit in a line.');
  return text;
}
