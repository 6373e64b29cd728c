/** A network between a runner and the hub that the test can interrupt. */
import { createServer, connect as dial, type Socket } from 'node:net';
import { listen, portOf } from '../../support/listening.ts';

export interface Network {
  /** URL with which a runner reaches the hub through this network. */
  readonly url: string;
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function openNetwork(hubUrl: string): Promise<Network> {
  const hub = new URL(hubUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = dial(Number(hub.port), hub.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await listen(server);
  const url = new URL(hubUrl);
  url.port = String(portOf(server));
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut: () => {
      isCut = true;
      drop();
    },
    restore: () => {
      isCut = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        drop();
      }),
  };
}
