/** The runner's intervals while the machine's clock jumps, or while the runner is suspended. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Journal } from '../src/outbox/journal.ts';
import { Outbox } from '../src/outbox/outbox.ts';
import { endProcesses, findProcesses, MARK_VARIABLE } from '../src/process/identity.ts';
import { createRedactor } from '../src/redaction.ts';
import { runAgent } from '../src/task/agentRun.ts';
import { TaskLog } from '../src/task/log.ts';
import { markOf, optionsFor } from './support/agentRuns.ts';
import { newFolder, removeFolder } from './support/folders.ts';
import { DEAF, FOREVER, installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';

const HOUR_MS = 3_600_000;

describe('the runner', () => {
  const { now } = Date;
  let folder: string;
  let mark: string;

  beforeEach(() => {
    folder = newFolder();
    mark = markOf(folder);
  });
  afterEach(() => {
    Date.now = now;
    removeFolder(folder);
  });

  /** Moves the machine's clock by this time at each call of Date.now. */
  function stepClock(milliseconds: number): void {
    let offset = 0;
    Date.now = () => {
      offset += milliseconds;
      return now() + offset;
    };
  }

  for (const [direction, step] of [
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ] as const)
    it(`sends heartbeats and log lines if the clock jumps ${direction} by an hour`, async () => {
      const calls: string[] = [];
      const append = async (): Promise<undefined> => void calls.push('append');
      const heartbeat = async () => {
        calls.push('heartbeat');
        return { messages: [] };
      };
      const journal = new Journal(`${folder}/log.jsonl`);
      const outbox = new Outbox({
        hub: { append, heartbeat, end: async () => 'ended' },
        taskId: 'task-1',
        epoch: 1,
        journal,
        heartbeatMs: 2000,
        say: () => undefined,
      });
      stepClock(step);
      outbox.append({ at: '2026-11-22T10:00:00Z', level: 'info', type: 'output', message: 'one' });
      await until(() => calls.includes('append') && calls.includes('heartbeat'));
      assert.deepEqual(calls, ['append', 'heartbeat']);
      await outbox.finish({ status: 'completed', result: {} });
      journal.close();
    });

  it('waits the full time between SIGTERM and SIGKILL if the clock jumps forward', async () => {
    const ended = `${folder}/ended`;
    await startMarked(
      `process.on('SIGTERM', () => setTimeout(() => { fs.writeFileSync('${ended}', ''); process.exit(); }, 300));`,
    );
    stepClock(HOUR_MS);
    assert.equal(await endProcesses(mark), true);
    assert.ok(existsSync(ended), 'the process was killed before its time ended');
  });

  it('ends a process that ignores SIGTERM if the clock jumps back', async () => {
    await startMarked(DEAF);
    stepClock(-HOUR_MS);
    assert.equal(await endProcesses(mark, undefined, 200), true);
    assert.deepEqual(findProcesses(mark), []);
  });

  it('does not treat the time in which it was suspended as silence of the coding agent', async () => {
    installStandIn(
      `${folder}/bin`,
      `let n = 0; setInterval(() => { said('Working.'); if (++n === 30) { result(); process.exit(); } }, 100);`,
    );
    let stopped = false;
    const log = new TaskLog(createRedactor([], {}), ({ message }) => {
      if (message !== 'Working.' || stopped) return;
      stopped = true;
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500));
    });
    const { failure } = await runAgent(optionsFor(folder, log, { silenceMs: 1000 }));
    assert.ok(stopped);
    assert.equal(failure, undefined);
  });

  async function startMarked(body: string): Promise<void> {
    const ready = `${folder}/ready`;
    const code = `const fs = require('node:fs'); ${body} fs.writeFileSync('${ready}', ''); ${FOREVER}`;
    spawn(process.execPath, ['-e', code], { stdio: 'ignore', env: { ...process.env, [MARK_VARIABLE]: mark } });
    await until(() => existsSync(ready));
  }
});
