/** Sends arbitrary bytes over HTTP connections, for requests that no HTTP client would send. */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Headers by lowercase name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A connection on which a test writes arbitrary bytes and waits for complete responses. */
export class RawConnection {
  readonly socket: Socket;
  private received = '';
  private ended = false;
  private wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      this.received += String(text);
      this.wake();
    });
    // A reset connection is treated like a closed one.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.ended = true;
      this.wake();
    });
  }

  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawConnection(socket)));
    });
  }

  /** Sends the request line and the headers, followed by the empty line that ends them. */
  head(line: string, headers: Readonly<Record<string, string>> = {}): void {
    const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
    this.socket.write([`${line} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Waits for the next complete response and returns it. Interim responses (status 1xx) count as responses. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const found = takeAnswer(this.received);
      if (found !== undefined) {
        this.received = found.rest;
        return found.answer;
      }
      if (this.ended) throw new Error(`The connection ended after ${JSON.stringify(this.received)}.`);
      await this.more();
    }
  }

  async closed(): Promise<void> {
    while (!this.ended) await this.more();
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

function takeAnswer(text: string): { answer: RawAnswer; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const length = Number(headers.get('content-length') ?? 0);
  const start = end + 4;
  if (text.length < start + length) return undefined;
  const body = text.slice(start, start + length);
  return { answer: { status: Number(first.split(' ')[1]), headers, body }, rest: text.slice(start + length) };
}
