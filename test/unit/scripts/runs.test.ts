/** Cleanup of an emulator run, however the run ends. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { closeAbandonedRuns, closeRun, processesOf } from '../../../scripts/processes/run.mjs';

const runModule = new URL('../../../scripts/processes/run.mjs', import.meta.url).href;

/** Program that opens a run and starts two processes in separate groups. One of them may ignore SIGTERM. */
const owner = (isStubborn: boolean) => `
  import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  import { openRun } from '${runModule}';
  const run = openRun('unit');
  const lasting = 'setInterval(() => {}, 1000); console.log("up")';
  for (const code of [lasting, ${isStubborn ? `'process.on("SIGTERM", () => {});' + ` : ''}lasting]) {
    const options = { detached: true, env: { ...process.env, ...run.env }, stdio: ['ignore', 'pipe', 'ignore'] };
    const child = spawn(process.execPath, ['-e', code], options);
    await new Promise((resolve) => child.stdout.once('data', resolve));
  }
  writeFileSync(run.temporary + '/file', '');
  run.removeAtEnd(run.temporary + '.file');
  writeFileSync(run.temporary + '.file', '');
  console.log(JSON.stringify({ tag: run.tag, temporary: run.temporary }));
  setInterval(() => {}, 1000);
`;

interface OpenRun {
  readonly process: ChildProcess;
  readonly tag: string;
  readonly temporary: string;
}

async function openRunElsewhere({ isStubborn = false } = {}): Promise<OpenRun> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', owner(isStubborn)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { tag, temporary } = JSON.parse(line);
    return { process: child, tag, temporary };
  }
  throw new Error('the run did not open');
}

/** Waits until the run is cleaned up. The test's own timeout limits the wait. */
async function untilCleared(run: OpenRun): Promise<void> {
  while (!isCleared(run)) await delay(100);
}

function isCleared({ tag, temporary }: OpenRun): boolean {
  return processesOf(tag).length === 0 && !existsSync(temporary) && !existsSync(`${temporary}.file`);
}

describe('emulator run of npm start or npm test', () => {
  it('ends its processes in other process groups, even if they ignore SIGTERM', async () => {
    const run = await openRunElsewhere({ isStubborn: true });
    assert.equal(processesOf(run.tag).length, 2);
    await closeRun(run.tag);
    assert.ok(isCleared(run));
    run.process.kill('SIGKILL');
  });

  it('is cleaned up by its watchdog process if its owner is killed', async () => {
    const run = await openRunElsewhere();
    run.process.kill('SIGKILL');
    await untilCleared(run);
  });

  it('is not cleaned up by other runs while the process that owns it is running', async () => {
    const run = await openRunElsewhere();
    await closeAbandonedRuns();
    assert.equal(processesOf(run.tag).length, 2);
    run.process.kill('SIGKILL');
    await untilCleared(run);
  });
});
