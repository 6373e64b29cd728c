/** Serves Muster in a process whose Firestore operations are counted. */
import type { Project } from '../seed.ts';
import { type Meter, openMeter } from '../wire/meter.ts';
import { type FunctionSource, musterFunction, serveFunction } from './functionServer.ts';

interface MeteredServer {
  readonly url: string;
  readonly meter: Meter;
  end(): Promise<void>;
}

export async function serveMetered(project: Project, env: FunctionSource['env'] = {}): Promise<MeteredServer> {
  const meter = await openMeter(process.env['FIRESTORE_EMULATOR_HOST'] ?? '');
  const server = await serveFunction({
    ...musterFunction,
    env: { ...project.env, ...env, FIRESTORE_EMULATOR_HOST: meter.host },
  });
  return {
    url: server.url,
    meter,
    async end() {
      await server.end();
      meter.close();
    },
  };
}
