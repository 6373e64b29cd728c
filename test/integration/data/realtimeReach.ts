/** Changes the address of the Realtime Database, or interrupts its connections. */
import { connect, createServer, type Socket } from 'node:net';
import { setVariable } from '../../support/environment.ts';
import { listen, portOf } from '../../support/listening.ts';

const HOST = 'FIREBASE_DATABASE_EMULATOR_HOST';

/** Runs the function with another address in the environment variable for the emulator. */
export async function withDatabaseAt<T>(host: string, run: () => Promise<T>): Promise<T> {
  const before = process.env[HOST];
  setVariable(HOST, host);
  try {
    return await run();
  } finally {
    setVariable(HOST, before);
  }
}

export interface Proxy {
  readonly host: string;
  /** From now on, discards all responses on the open connections. */
  silence(): void;
  /** Closes the open connections. */
  cut(): void;
  close(): void;
}

export async function openProxy(target: string): Promise<Proxy> {
  const [host, port] = target.split(':');
  const sockets = new Set<Socket>();
  const answering = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(Number(port), host);
    for (const socket of [inward, outward]) {
      sockets.add(socket);
      socket.on('error', () => {}); // The connection was closed by `cut`.
      socket.on('close', () => sockets.delete(socket));
    }
    inward.pipe(outward);
    outward.pipe(inward);
    answering.add(outward);
    outward.on('close', () => answering.delete(outward));
  });
  await listen(server);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: `127.0.0.1:${portOf(server)}`,
    cut,
    silence() {
      for (const socket of answering) socket.unpipe().resume();
    },
    close() {
      server.close();
      cut();
    },
  };
}
