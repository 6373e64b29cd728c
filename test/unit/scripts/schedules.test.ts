/** Schedules of `npm start` while the functions emulator is slow, or functions are switched off and on. */
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { callTrigger } from '../../../scripts/emulators/triggers.mjs';
import { Ticking } from '../../../scripts/start/schedules.mjs';
import { close, listen } from '../../support/listening.ts';

/** Imitates the functions emulator, in which the name of a function ends in a generation number. */
class FunctionsEmulator {
  readonly statuses = new Map<string, number>();
  readonly calls: string[] = [];
  /** Calls to which the test has not yet responded. */
  readonly held: ServerResponse[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const name = String(request.url).split('/').at(-1) ?? '';
      if (name === 'backends') return void response.end(JSON.stringify(this.backends()));
      const status = this.statuses.get(name);
      if (status !== undefined) this.calls.push(name);
      if (status === 200) return void this.held.push(response);
      response.writeHead(status ?? 404).end();
    });
  }

  start(): Promise<string> {
    return listen(this.server);
  }

  async hold(count: number): Promise<void> {
    while (this.held.length < count) await new Promise(setImmediate);
  }

  answer(status = 200): void {
    for (const response of this.held.splice(0)) response.writeHead(status).end();
  }

  stop(): Promise<void> {
    return close(this.server);
  }

  /** Lists a function once per generation, as the emulator does. */
  private backends() {
    const ids = [...this.statuses.keys()].map((name) => name.replace(/-\d+$/, ''));
    const schedules = ids.map((id) => ({ id: `${id}`, schedule: {} }));
    return { backends: [{ functionTriggers: [...schedules, { id: 'us-central1-mcp' }] }] };
  }
}

describe('schedules of npm start', () => {
  let emulator: FunctionsEmulator;
  let url: string;

  beforeEach(async () => {
    emulator = new FunctionsEmulator();
    url = await emulator.start();
  });
  afterEach(() => emulator.stop());

  it('do not start a call of a function before its previous call has ended', async () => {
    emulator.statuses.set('r-sweep-0', 200);
    const ticking = new Ticking(url);
    const first = ticking.tick();
    await emulator.hold(1);
    assert.deepEqual(await ticking.tick(), ['r-sweep is still running: skipped']);
    assert.deepEqual(emulator.calls, ['r-sweep-0']);
    emulator.answer();
    assert.deepEqual(await first, []);
    const next = ticking.tick();
    await emulator.hold(1);
    emulator.answer(500);
    assert.deepEqual(await next, ['r-sweep failed: HTTP 500']);
  });

  it('do not wait for each other', async () => {
    emulator.statuses.set('r-sweep-0', 200).set('r-remind-0', 500);
    const ticking = new Ticking(url);
    const first = ticking.tick();
    await emulator.hold(1);
    await ticking.tick();
    assert.deepEqual([...emulator.calls].sort(), ['r-remind-0', 'r-remind-0', 'r-sweep-0']);
    emulator.answer();
    assert.deepEqual(await first, ['r-remind failed: HTTP 500']);
  });

  it('report that a function is switched off', async () => {
    emulator.statuses.set('r-sweep-0', 204).set('r-sweep-1', 204);
    assert.deepEqual(await new Ticking(url).tick(), ['r-sweep is turned off']);
  });

  it('call a function once after it was switched off and on again', async () => {
    emulator.statuses.set('r-sweep-0', 204).set('r-sweep-2', 200);
    const tick = new Ticking(url).tick();
    await emulator.hold(1);
    emulator.answer();
    assert.deepEqual(await tick, []);
    assert.deepEqual(emulator.calls, ['r-sweep-0', 'r-sweep-2']);
  });

  it('report that the emulator is unreachable or a function is unknown', async () => {
    assert.equal(await callTrigger(url, 'r-none', { milliseconds: 30_000 }), 'r-none was not found');
    emulator.stop();
    const [failure] = await new Ticking(url).tick();
    assert.match(String(failure), /^calling the schedules failed: /);
  });
});
