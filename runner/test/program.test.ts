/** Programs that the runner starts. An error while their output is handled must end only the program. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findProcesses } from '../src/process/identity.ts';
import { startProgram } from '../src/process/program.ts';
import { createRedactor } from '../src/redaction.ts';
import { runAcceptance } from '../src/task/acceptance.ts';
import { TaskLog } from '../src/task/log.ts';
import { newFolder, removeFolder } from './support/folders.ts';

const MODULE = fileURLToPath(new URL('../src/process/program.ts', import.meta.url));
/** A line of 11 UTF-16 units. If only the last 16,000 units are kept, the first unit is half of an emoji. */
const LINE = `${'\u{1f680}'.repeat(4)}ab\n`;

describe('a program that a runner starts', () => {
  let folder: string;
  let mark: string;

  beforeEach(() => {
    folder = newFolder();
    mark = `test-${folder.split('/').pop()}`;
  });
  afterEach(() => {
    assert.deepEqual(findProcesses(mark), [], 'no process is left');
    removeFolder(folder);
  });

  const failing = (): never => {
    throw new Error('the log is broken');
  };

  for (const stream of ['stdout', 'stderr'] as const)
    it(`is ended, and its promise rejects, if the handler of its ${stream} throws an error`, async () => {
      const program = startProgram({
        program: '/bin/sh',
        args: ['-c', `echo one >&${stream === 'stdout' ? 1 : 2}; exec sleep 600`],
        cwd: folder,
        env: process.env,
        mark,
        onOutput: failing,
      });
      await assert.rejects(program.exited, /the log is broken/);
      await assert.rejects(program.end(), /the log is broken/);
    });

  it('has a rejected promise if the handler of its output throws after the program has ended', async () => {
    const program = startProgram({
      program: '/bin/sh',
      args: ['-c', 'printf "no line end"'],
      cwd: folder,
      env: process.env,
      mark,
      onOutput: failing,
    });
    await program.exited.catch(() => undefined);
    await assert.rejects(program.end(), /the log is broken/);
  });

  it('has a rejected promise, and does not end the runner, if no file descriptor is free', function () {
    if (process.platform !== 'linux') this.skip();
    const script = `
      import { openSync } from 'node:fs';
      import { startProgram } from ${JSON.stringify(MODULE)};
      try { for (;;) openSync('/dev/null', 'r'); } catch {}
      const options = { args: ['-c', 'true'], cwd: '/', env: {}, mark: ${JSON.stringify(mark)} };
      const { exited } = startProgram({ program: '/bin/sh', ...options, onOutput: () => undefined });
      console.log(await exited.then(() => 'started', (error) => error.code));
      process.exit();
    `;
    const command = 'ulimit -n 64; exec "$0" --input-type=module --disable-warning=ExperimentalWarning -e "$1"';
    const output = execFileSync('/bin/bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
    assert.equal(output.trim(), 'EMFILE');
  });

  it('is ended if it is the acceptance command and the handler of its output throws', async () => {
    const log = new TaskLog(createRedactor([], {}), ({ message }) => {
      if (message === 'one') failing();
    });
    const running = runAcceptance({
      command: 'echo one; exec sleep 600',
      folder,
      env: process.env,
      mark,
      log,
      patienceMs: 600_000,
      signal: new AbortController().signal,
    });
    await assert.rejects(running, /the log is broken/);
  });

  it('is reported with the last part of its output if it is the acceptance command', async () => {
    const { output, exitCode } = await runAcceptance({
      command: `yes '${LINE.trim()}' | head -n 20000`,
      folder,
      env: process.env,
      mark,
      log: new TaskLog(createRedactor([], {}), () => undefined),
      patienceMs: 600_000,
      signal: new AbortController().signal,
    });
    assert.equal(exitCode, 0);
    assert.equal(output.length, 15_999);
    assert.ok(output.isWellFormed() && output.endsWith(LINE));
  });

  it('is stopped if it is the acceptance command and takes longer than its timeout', async () => {
    const { exitCode } = await runAcceptance({
      command: 'sleep 600',
      folder,
      env: process.env,
      mark,
      log: new TaskLog(createRedactor([], {}), () => undefined),
      patienceMs: 200,
      signal: new AbortController().signal,
    });
    assert.equal(exitCode, undefined);
  });
});
