/** Firestore clients for concurrent tests. Each client connects through its own proxy, which can lose commits. */
import assert from 'node:assert/strict';
import { Firestore, type Settings } from '@google-cloud/firestore';
import { setVariable } from '../environment.ts';
import { LossyProxy } from './proxy.ts';

export interface LossyConnection {
  readonly proxy: LossyProxy;
  /** Client that connects through the proxy. */
  readonly database: Firestore;
  /** Client that connects to the emulator directly. */
  readonly direct: Firestore;
}

const HOST = 'FIRESTORE_EMULATOR_HOST';

export class LossyConnections {
  private readonly all: readonly LossyConnection[];
  private readonly free: LossyConnection[];
  private readonly waiting: ((connection: LossyConnection) => void)[] = [];

  private constructor(all: readonly LossyConnection[]) {
    this.all = all;
    this.free = [...all];
  }

  /**
   * @param project prefix of project ids, if each connection needs its own project. In such a project, no emulator
   * trigger interferes with the test, and cleanup jobs find only documents of this connection.
   */
  static async open(count: number, project?: string): Promise<LossyConnections> {
    const emulator = process.env[HOST];
    assert.ok(emulator, 'FIRESTORE_EMULATOR_HOST must be set');
    const opened = Array.from({ length: count }, async (_, index) => {
      const proxy = await LossyProxy.open(emulator);
      const settings = project === undefined ? {} : { projectId: `${project}-${index + 1}` };
      return { proxy, database: clientAt(proxy.host, settings), direct: new Firestore(settings) };
    });
    return new LossyConnections(await Promise.all(opened));
  }

  /** Calls `work` with a free connection. Waits if all connections are in use. */
  async use<T>(work: (connection: LossyConnection) => Promise<T>): Promise<T> {
    const connection = this.free.pop() ?? (await new Promise<LossyConnection>((resolve) => this.waiting.push(resolve)));
    try {
      return await work(connection);
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free.push(connection);
      else next(connection);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.flatMap(({ database, direct }) => [database.terminate(), direct.terminate()]));
    for (const { proxy } of this.all) proxy.close();
  }
}

/** Returns a client of the emulator at `host`. The SDK reads this address from the environment, not from settings. */
export function clientAt(host: string, settings: Settings = {}): Firestore {
  const standard = process.env[HOST];
  setVariable(HOST, host);
  try {
    return new Firestore(settings);
  } finally {
    setVariable(HOST, standard);
  }
}

let constructing: Promise<unknown> = Promise.resolve();

/** Calls `work` so that all clients that it creates connect through the proxy. Calls run one at a time. */
export function connectingThrough<T>({ proxy }: LossyConnection, work: () => Promise<T>): Promise<T> {
  const done = constructing.then(async () => {
    const standard = process.env[HOST];
    process.env[HOST] = proxy.host;
    try {
      return await work();
    } finally {
      setVariable(HOST, standard);
    }
  });
  constructing = done.catch(() => undefined);
  return done;
}
