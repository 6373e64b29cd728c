/** Some instances of the endpoint, as Cloud Run keeps them: one that is killed is replaced. */
import { setTimeout as delay } from 'node:timers/promises';
import { type FunctionServer, musterFunction, serveFunction } from '../../../bench/servers/functionServer.ts';

const INSTANCES = 4;

/** Fewer than this, and the next call waits for a replacement. */
const FEWEST = 2;

/** An instance is killed within so long after a call begins, which is about how long a call takes. */
const WITHIN_MS = 15;

export interface FleetOptions {
  readonly env: Readonly<Record<string, string>>;
  /** So many instances are killed, one each time that so many calls have begun. */
  readonly kills: number;
  readonly callsPerKill: number;
}

export class Fleet {
  kills = 0;
  private calls = 0;
  private isClosed = false;
  private readonly ready: FunctionServer[] = [];
  private readonly starting = new Set<Promise<void>>();
  private readonly options: FleetOptions;
  private killing: Promise<void> = Promise.resolve();

  constructor(options: FleetOptions) {
    this.options = options;
  }

  async start(): Promise<void> {
    for (let count = 0; count < INSTANCES; count++) this.startOne();
    await Promise.all(this.starting);
  }

  /** Where the next call goes. Now and then it is the last that its instance sees. */
  async urlOfNext(): Promise<string> {
    await this.killing;
    while (this.ready.length < FEWEST) await Promise.race(this.starting);
    const instance = this.ready[Math.floor(Math.random() * this.ready.length)];
    if (instance === undefined) throw new Error('There is no instance.');
    this.calls++;
    const isDue = this.calls % this.options.callsPerKill === 0 && this.kills < this.options.kills;
    if (isDue) this.killing = this.kill(instance);
    return instance.url;
  }

  async end(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.starting);
    await Promise.all(this.ready.map((instance) => instance.end()));
  }

  private async kill(instance: FunctionServer): Promise<void> {
    this.kills++;
    await delay(Math.random() * WITHIN_MS);
    this.ready.splice(this.ready.indexOf(instance), 1);
    this.startOne();
    await instance.kill();
  }

  private startOne(): void {
    if (this.isClosed) return;
    const starting = serveFunction({ ...musterFunction, env: this.options.env }).then((instance) => {
      this.ready.push(instance);
      this.starting.delete(starting);
    });
    this.starting.add(starting);
  }
}
