/** Several clients of Firestore at once, each with a proxy of its own that can lose its commits. */
import assert from 'node:assert/strict';
import { Firestore } from '@google-cloud/firestore';
import { LossyProxy } from './proxy.ts';

export interface Lane {
  readonly proxy: LossyProxy;
  /** Its connection goes through the proxy. */
  readonly database: Firestore;
}

const HOST = 'FIRESTORE_EMULATOR_HOST';

export class Lanes {
  private readonly all: readonly Lane[];
  private readonly free: Lane[];
  private readonly waiting: ((lane: Lane) => void)[] = [];

  private constructor(all: readonly Lane[]) {
    this.all = all;
    this.free = [...all];
  }

  /** @param projectId of its own, where what Firestore triggers would be in the way: the emulators know only of the usual one's */
  static async open(count: number, projectId?: string): Promise<Lanes> {
    const emulator = process.env[HOST];
    assert.ok(emulator, 'the emulator runs');
    const proxies = await Promise.all(Array.from({ length: count }, () => LossyProxy.open(emulator)));
    return new Lanes(proxies.map((proxy) => ({ proxy, database: clientAt(proxy.host, projectId) })));
  }

  /** Waits for a lane that nobody uses. */
  async use<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    const lane = this.free.pop() ?? (await new Promise<Lane>((resolve) => this.waiting.push(resolve)));
    try {
      return await work(lane);
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free.push(lane);
      else next(lane);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(({ database }) => database.terminate()));
    for (const { proxy } of this.all) proxy.close();
  }
}

/** The SDK takes the emulator's address from the environment as the client is made, whatever its settings say. */
function clientAt(host: string, projectId: string | undefined): Firestore {
  const usual = process.env[HOST];
  process.env[HOST] = host;
  try {
    return new Firestore({ ...(projectId !== undefined && { projectId }) });
  } finally {
    process.env[HOST] = usual;
  }
}

let constructing: Promise<unknown> = Promise.resolve();

/** Has clients that the work makes connect through the lane: those of callers are made by the code under test. */
export function connectingThrough<T>({ proxy }: Lane, work: () => Promise<T>): Promise<T> {
  const done = constructing.then(async () => {
    const usual = process.env[HOST];
    process.env[HOST] = proxy.host;
    try {
      return await work();
    } finally {
      process.env[HOST] = usual;
    }
  });
  constructing = done.catch(() => undefined);
  return done;
}
