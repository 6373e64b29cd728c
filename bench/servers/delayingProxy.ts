/** A TCP proxy that delays the bytes of both directions by a fixed time, and keeps their order. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../scripts/emulators/ports.mjs';

/** Starts a proxy for the rest of the process. @param target host and port @returns the proxy's host and port */
export async function startDelayingProxy(target: string, milliseconds: number): Promise<string> {
  const [hostname, targetPort] = target.split(':');
  const server = createServer({ noDelay: true }, (inward) => {
    const outward = connect({ port: Number(targetPort), host: hostname, noDelay: true });
    forward(inward, outward, milliseconds);
    forward(outward, inward, milliseconds);
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${port}`;
}

/** Timers of equal duration run in the order in which they were started. */
function forward(from: Socket, to: Socket, milliseconds: number): void {
  from.on('data', (bytes) => void setTimeout(() => to.write(bytes), milliseconds));
  from.on('close', () => void setTimeout(() => to.destroy(), milliseconds));
  from.on('error', () => from.destroy());
}
