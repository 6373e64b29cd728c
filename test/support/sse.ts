/** Reads server-sent events by the rules for browsers, and also returns comments. */
export interface ReceivedFrame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retry?: string;
  /** Text of a comment, which is a line that starts with a colon. */
  readonly comment?: string;
}

export class EventStream {
  readonly response: Response;
  private readonly frames: AsyncGenerator<ReceivedFrame>;
  private readonly abort: AbortController;

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.abort = abort;
    this.frames = framesOf(response);
  }

  static async open(url: string, init: RequestInit = {}): Promise<EventStream> {
    const abort = new AbortController();
    return new EventStream(await fetch(url, { ...init, signal: abort.signal }), abort);
  }

  /** Waits for the next frame and returns it, or returns undefined at the end of the stream. */
  async next(): Promise<ReceivedFrame | undefined> {
    const { done, value } = await this.frames.next();
    return done ? undefined : value;
  }

  async take(count: number): Promise<ReceivedFrame[]> {
    const taken: ReceivedFrame[] = [];
    while (taken.length < count) {
      const frame = await this.next();
      if (frame === undefined) throw new Error(`The stream ended after ${JSON.stringify(taken)}.`);
      taken.push(frame);
    }
    return taken;
  }

  /** Waits for the end of the stream, and returns the remaining frames. */
  async rest(): Promise<ReceivedFrame[]> {
    const rest: ReceivedFrame[] = [];
    for (let frame = await this.next(); frame !== undefined; frame = await this.next()) rest.push(frame);
    return rest;
  }

  close(): void {
    this.abort.abort();
  }
}

async function* framesOf({ body }: Response): AsyncGenerator<ReceivedFrame> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield parseFrame(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  }
  if (text !== '') throw new Error(`The stream ends within a frame: ${text}`);
}

/** Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
export function parseFrame(frame: string): ReceivedFrame {
  const fields = new Map<string, string>();
  for (const line of frame.split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    const before = fields.get(name);
    fields.set(name || 'comment', name === 'data' && before !== undefined ? `${before}\n${value}` : value);
  }
  return Object.fromEntries(fields);
}
