/** Starts and stops servers on this machine, each on a free port. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';

/** Starts the server, and returns the origin of its URLs, such as `http://127.0.0.1:1234`. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return originOf(server);
}

export function originOf(server: Server): string {
  return `http://127.0.0.1:${portOf(server)}`;
}

/** Returns the port of a server. @throws Error if the server is not listening */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server is not listening.');
  return address.port;
}

/** Closes a server and its connections. Does nothing if the server was never started. */
export async function close(server: (Server & { closeAllConnections?(): void }) | undefined): Promise<void> {
  if (server === undefined) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections?.();
  await closed;
}

/** Returns the body of a request as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** Base class of services that tests run on this machine. */
export abstract class LocalServer {
  protected abstract readonly server: Server;

  start(): Promise<string> {
    return listen(this.server);
  }

  stop(): Promise<void> {
    return close(this.server);
  }

  get url(): string {
    return originOf(this.server);
  }
}
