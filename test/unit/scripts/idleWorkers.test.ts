/** Function processes of the functions emulator that run no call. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { emulatorsPool, reapIdleWorkers } from '../../../scripts/emulators/idleWorkers.mjs';

const SERVES =
  "require('node:http').createServer((request, response) => request.url === '/slow' ? setTimeout(() => response.end(), 600) : response.end()).listen(0, '127.0.0.1', function () { process.stderr.write(String(this.address().port) + '\\n'); })";

/** Imitates the response that the emulator sends to a caller. */
class Response extends EventEmitter {
  readonly statuses: number[] = [];

  writeHead(status: number): void {
    this.statuses.push(status);
  }

  write(): boolean {
    return true;
  }

  end(): void {
    this.emit('finish');
  }
}

describe('idle function processes', () => {
  const children: ChildProcess[] = [];

  /** The test changes a subclass, so that the class of the emulator stays unchanged. */
  const Pool = class extends emulatorsPool() {};
  before(() => reapIdleWorkers(Pool, 200));

  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  /** Adds a process to a pool and waits until it is ready. */
  async function added() {
    const child = spawn(process.execPath, ['-e', SERVES], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    children.push(child);
    assert.ok(child.stderr);
    const [line] = await once(child.stderr, 'data');
    const conn = { httpReqOpts: () => ({ host: '127.0.0.1', port: Number(String(line)) }) };
    const runtime = { process: child, events: new EventEmitter(), conn };
    const pool = new Pool();
    const worker = pool.addWorker({ id: 'mcp' }, runtime, {});
    await worker.waitForSocketReady();
    return { pool, child };
  }

  const isEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

  it('are ended after the idle time, and receive no further calls', async () => {
    const { pool, child } = await added();
    assert.ok(pool.readyForWork('mcp'));
    await once(child, 'exit');
    assert.equal(pool.readyForWork('mcp'), false);
  });

  it('are not ended while they run a call that takes longer than the idle time', async () => {
    const { pool, child } = await added();
    const response = new Response();
    await pool.submitRequest('mcp', { method: 'GET', path: '/slow', headers: {} }, response, undefined);
    assert.deepEqual(response.statuses, [200]);
    assert.equal(isEnded(child), false);
    await once(child, 'exit');
  });
});
