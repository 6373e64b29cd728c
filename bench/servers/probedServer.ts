/** Serves Muster in a process that reports its heap and its event-loop delay. */
import { fileURLToPath } from 'node:url';
import { type FunctionServer, type FunctionSource, musterFunction, serveFunction } from './functionServer.ts';

const probe = fileURLToPath(new URL('probe.mjs', import.meta.url));

export interface ProbedServer extends FunctionServer {
  /** Returns the KiB of used heap, or the 99th percentile of the event-loop delay since the previous question, in ms. */
  report(what: 'heap' | 'delay'): Promise<number>;
}

export async function serveProbed(env: FunctionSource['env'] & object): Promise<ProbedServer> {
  let reported: (message: unknown) => void = () => undefined;
  const server = await serveFunction({
    ...musterFunction,
    env,
    nodeOptions: ['--expose-gc', '--import', probe],
    onMessage: (message) => reported(message),
  });
  return {
    ...server,
    report: (what) =>
      new Promise((resolve) => {
        reported = (message) => resolve(Number(message));
        server.send(what);
      }),
  };
}
