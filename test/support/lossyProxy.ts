/** An HTTP proxy that can lose requests and responses. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { close, listen, portOf } from './listening.ts';

/** Requests that the proxy affects, and what happens to them. */
export interface Loss {
  /** HTTP method of the affected requests, such as `PUT`. Default: any method. */
  readonly method?: string;
  /** Number of affected requests. Default: 1. */
  readonly times?: number;
  /** `unsent`: the request is lost. `cut`: the connection closes. A number: the proxy responds with this status. */
  readonly ends?: 'unsent' | 'cut' | number;
  /** Called after the server has executed the request, and before the client notices the loss. */
  readonly beforeLoss?: () => Promise<unknown>;
}

export interface LossyProxy {
  /** Host and port, such as `127.0.0.1:1234`. */
  readonly host: string;
  /** Methods of all received requests, in order of arrival. */
  readonly seen: string[];
  /** Loses the next requests that match, or their responses. */
  lose(loss: Loss): void;
  close(): void;
}

export async function openLossyProxy(target: string): Promise<LossyProxy> {
  const losses: { readonly loss: Loss; left: number }[] = [];
  const seen: string[] = [];

  async function pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    seen.push(asked.method ?? '');
    const next = losses.find(({ loss, left }) => left > 0 && (loss.method ?? asked.method) === asked.method);
    if (next !== undefined) next.left--;
    const { ends = 'cut', beforeLoss } = next?.loss ?? {};
    const body = await bytesOf(asked);
    if (next !== undefined && ends === 'unsent') return void asked.socket.destroy();
    const [hostname, port] = target.split(':');
    const { method, url: path, headers } = asked;
    const onward = send({ hostname, port, method, path, headers }).end(body);
    const [given] = (await once(onward, 'response')) as [IncomingMessage];
    const text = await bytesOf(given);
    await beforeLoss?.();
    if (next === undefined) return void answer.writeHead(given.statusCode ?? 500, given.headers).end(text);
    if (typeof ends === 'number') answer.writeHead(ends).end('{"error":"lost"}');
    else asked.socket.destroy();
  }

  const server = createServer((asked, answer) => {
    pass(asked, answer).catch(() => asked.socket.destroy());
  });
  await listen(server);
  return {
    host: `127.0.0.1:${portOf(server)}`,
    seen,
    lose: (loss) => void losses.push({ loss, left: loss.times ?? 1 }),
    close: () => close(server),
  };
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
