/** Several Firestore clients for concurrent tests, each with its own proxy that can lose its commits. */
import assert from 'node:assert/strict';
import { Firestore, type Settings } from '@google-cloud/firestore';
import { setVariable } from '../environment.ts';
import { LossyProxy } from './proxy.ts';

export interface LossyConnection {
  readonly proxy: LossyProxy;
  /** Connects through the proxy. */
  readonly database: Firestore;
  /** Connects without the proxy. */
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
   * @param project prefix of the lanes' separate projects, if any. The emulators run no triggers there, which would
   * do first what is tested, and cleanup jobs find no other lane's documents.
   */
  static async open(count: number, project?: string): Promise<LossyConnections> {
    const emulator = process.env[HOST];
    assert.ok(emulator, 'the emulator runs');
    const opened = Array.from({ length: count }, async (_, index) => {
      const proxy = await LossyProxy.open(emulator);
      const settings = project === undefined ? {} : { projectId: `${project}-${index + 1}` };
      return { proxy, database: clientAt(proxy.host, settings), direct: new Firestore(settings) };
    });
    return new LossyConnections(await Promise.all(opened));
  }

  /** Waits for a free lane. */
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

/** The SDK reads the emulator's address from the environment when the client is created and ignores the settings. */
export function clientAt(host: string, settings: Settings = {}): Firestore {
  const usual = process.env[HOST];
  setVariable(HOST, host);
  try {
    return new Firestore(settings);
  } finally {
    setVariable(HOST, usual);
  }
}

let constructing: Promise<unknown> = Promise.resolve();

/** Connects clients that `work` creates through the lane: the code under test creates the callers' clients. */
export function connectingThrough<T>({ proxy }: LossyConnection, work: () => Promise<T>): Promise<T> {
  const done = constructing.then(async () => {
    const usual = process.env[HOST];
    process.env[HOST] = proxy.host;
    try {
      return await work();
    } finally {
      setVariable(HOST, usual);
    }
  });
  constructing = done.catch(() => undefined);
  return done;
}
