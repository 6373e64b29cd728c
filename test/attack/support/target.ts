/**
 * The attacked endpoint: the built function in the functions framework, with as much memory as an instance has. Its
 * project is separate and has no triggers, so that only the attacker's requests write data.
 */
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startGitHub } from '../../../bench/measurements/costOfGitHub.ts';
import { addCallers, newProject } from '../../../bench/seed.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../../../bench/servers/functionServer.ts';
import { startRunQueue } from '../../../bench/servers/runQueue.ts';
import { type Meter, openMeter } from '../../../bench/wire/meter.ts';
import { type Cost, costReport } from './cost.ts';
import { elsewhere, newDatabase } from './elsewhere.ts';

/** Memory of an instance of the endpoint, as set in entry/http.ts. */
export const MEBIBYTES = 512;

/** In a container with this memory, Node's default heap size is half of the memory. */
const NODE_OPTIONS = [`--max-old-space-size=${MEBIBYTES / 2}`];

export interface Target {
  readonly server: FunctionServer;
  readonly meter: Meter;
  /** Credential of a leader. At first, this leader is the only agent of the project. */
  readonly leader: string;
  /** Returns the cost of the request with this number, which the process reports shortly after the response. */
  costOf(number: number): Promise<Cost>;
  /** Returns a text that differs from the previous one if a caller has changed anything outside Firestore. */
  elsewhere(): Promise<string>;
  end(): Promise<void>;
}

/** @param env additional environment variables of the function */
export async function startTarget(name: string, env: Readonly<Record<string, string>> = {}): Promise<Target> {
  const project = newProject(name);
  const [leader] = await addCallers(project, 'leader');
  if (leader === undefined) throw new Error('The project has no leader.');
  const meter = await openMeter(process.env['FIRESTORE_EMULATOR_HOST'] ?? '');
  const database = await newDatabase(project.id);
  const config = JSON.stringify({ projectId: project.id, databaseURL: database.url });
  const projectEnv = { ...project.env, FIREBASE_CONFIG: config };
  const [gitHub, runQueue] = await Promise.all([startGitHub(), startRunQueue(projectEnv)]);
  const reported = new EventEmitter();
  const costs = new Map<number, Cost>();
  const server = await serveFunction({
    ...musterFunction,
    nodeOptions: [...NODE_OPTIONS, '--import', fileURLToPath(new URL('requestMeter.ts', import.meta.url))],
    onMessage(message) {
      const cost = costReport.parse(message);
      costs.set(cost.number, cost);
      reported.emit(String(cost.number));
    },
    env: { ...projectEnv, ...gitHub.env, ...runQueue.env, ...env, FIRESTORE_EMULATOR_HOST: meter.host },
  });
  return {
    server,
    meter,
    leader: leader.credential,
    async costOf(number) {
      if (!costs.has(number)) await once(reported, String(number));
      const cost = costs.get(number);
      costs.delete(number);
      if (cost === undefined) throw new Error(`The function did not report the cost of request ${number}.`);
      return cost;
    },
    elsewhere: () => elsewhere(database, gitHub.world),
    async end() {
      await Promise.all([server.end(), gitHub.stop(), runQueue.stop()]);
      meter.close();
    },
  };
}
