import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { handleRest } from './rest/handler.ts';
import { Store } from './store.ts';
import { Connection } from './websocket/connection.ts';

export interface ServerOptions {
  readonly host?: string;
  /** Port of the server. The default, 0, selects a free port. */
  readonly port?: number;
  /** Address of the functions emulator whose functions are called when data changes. */
  readonly functionsUrl?: string | null;
}

export interface Server {
  readonly port: number;
  readonly store: Store;
  close(): Promise<void>;
}

const maxMessageBytes = 2 ** 28;

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const store = new Store(options.functionsUrl ?? null);
  const http = createServer((message, response) => void handleRest(message, response, store));
  const sockets = new WebSocketServer({ server: http, path: '/.ws', maxPayload: maxMessageBytes });
  sockets.on('error', () => {}); // The HTTP server emits the same error, which is thrown below.
  sockets.on('connection', (socket, request) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const namespace = store.namespace(url.searchParams.get('ns') ?? 'fake-server');
    new Connection(socket, namespace, request.headers.host ?? 'localhost');
  });
  http.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    store,
    async close() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
