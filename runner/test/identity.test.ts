/** Detection of ended runners on this machine, in other containers, and after a restart. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  endProcesses,
  findProcesses,
  inspectProcess,
  listProcesses,
  ownIdentity,
  ownPlace,
  type Place,
  type ProcessIdentity,
  type ProcessSnapshot,
  stateOf,
} from '../src/process/identity.ts';
import { startProgram } from '../src/process/program.ts';
import { AttemptRecord } from '../src/task/record.ts';
import { newFolder, removeFolder } from './support/folders.ts';
import { until } from './support/waiting.ts';

const HERE: Place = { bootId: 'boot-1', pidNamespace: 'pid:[1]', host: 'here' };
const OWNER: ProcessIdentity = { pid: 7, startedAt: '100', ...HERE };
const seen = (startedAt: string) => (): ProcessSnapshot => ({ exists: true, startedAt });
const missing = (): ProcessSnapshot => ({ exists: false });

describe("the process in an attempt's record", () => {
  for (const [title, owner, look, expected] of [
    ['running if its id has its start time', OWNER, seen('100'), 'running'],
    ['ended if no process has its id', OWNER, missing, 'ended'],
    ['ended if its id was used again', OWNER, seen('101'), 'ended'],
    ['unknown if its start time cannot be read', OWNER, seen(''), 'unknown'],
    ['unknown if it could not read its own start time', { ...OWNER, startedAt: '' }, seen(''), 'unknown'],
    ['unknown in another container', { ...OWNER, pidNamespace: 'pid:[2]', host: 'x' }, seen('100'), 'unknown'],
    ['unknown in a namespace of the same host name', { ...OWNER, pidNamespace: 'pid:[2]' }, missing, 'unknown'],
    ['unknown on another machine', { ...OWNER, bootId: 'boot-2', host: 'there' }, seen('100'), 'unknown'],
    ['ended if this machine has restarted', { ...OWNER, bootId: 'boot-0' }, seen('100'), 'ended'],
    ['running if only the host name has changed', { ...OWNER, host: 'renamed' }, seen('100'), 'running'],
    ['running in a record of a former release', { pid: 7, startedAt: '100' }, seen('100'), 'running'],
    ['ended in a record of a former release', { pid: 7, startedAt: '100' }, missing, 'ended'],
    ['ended in a former record without a start time', { pid: 7, startedAt: '' }, seen(''), 'ended'],
  ] as const)
    it(`is ${title}`, () => assert.equal(stateOf(owner, HERE, look), expected));

  it('is running if it is the current process, and ended if its start time differs', async () => {
    assert.equal(stateOf(ownIdentity(), ownPlace(), inspectProcess), 'running');
    assert.equal(stateOf({ ...ownIdentity(), startedAt: '1' }, ownPlace(), inspectProcess), 'ended');
    const { pid } = spawnSync('true');
    assert.deepEqual(inspectProcess(pid), { exists: false });
  });
});

describe('the attempt record of a runner whose process is not visible', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => removeFolder(folder));

  const facts = {
    mark: 'test-none',
    hub: 'http://127.0.0.1:9/mcp',
    agentId: 'agent-1',
    taskId: 'one',
    epoch: 1,
    description: 'A task',
    branch: 'work/one',
    worktree: '/nowhere',
    leaseSeconds: 60,
  };
  const file = () => `${folder}/one.1/owner.json`;

  function recordFrom(changes: object): void {
    AttemptRecord.create(folder, facts).leave();
    writeFileSync(file(), JSON.stringify({ ...JSON.parse(readFileSync(file(), 'utf8')), ...changes }));
  }

  it('is adopted only after its lease has expired', () => {
    recordFrom({ bootId: 'another', host: 'elsewhere' });
    assert.deepEqual(AttemptRecord.adopt(folder), []);
    assert.ok(AttemptRecord.areLeftAlone(folder));
    const before = new Date(Date.now() - 61_000);
    utimesSync(file(), before, before);
    assert.deepEqual(AttemptRecord.adopt(folder), [], 'an old modification time alone is not sufficient');
    const [record] = AttemptRecord.adopt(folder);
    assert.ok(!AttemptRecord.areLeftAlone(folder));
    assert.equal(record?.facts.taskId, 'one');
    record?.discard();
  });

  it('is not adopted while its runner sends heartbeats', async () => {
    const record = AttemptRecord.create(folder, facts);
    const before = new Date(Date.now() - 61_000);
    utimesSync(file(), before, before);
    await until(() => Date.now() - statSync(file()).mtimeMs < 60_000);
    record.leave();
  });

  it('is not adopted by a runner in another PID namespace', function () {
    const script = `
      const { AttemptRecord } = await import(${JSON.stringify(fileURLToPath(new URL('../src/task/record.ts', import.meta.url)))});
      console.log(AttemptRecord.adopt(${JSON.stringify(folder)}).length);
      process.exit();`;
    const run = (command: string, ...args: readonly string[]) =>
      spawnSync(
        command,
        [...args, process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
        { encoding: 'utf8' },
      );
    if (spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status !== 0) {
      console.log('      unshare is not permitted here: no second namespace');
      this.skip();
    }
    const record = AttemptRecord.create(folder, facts);
    assert.equal(run('unshare', '--pid', '--fork', '--mount-proc').stdout.trim(), '0');
    assert.equal(run('env').stdout.trim(), '0', 'the process of the record is running');
    record.leave();
  });
});

describe('the end of marked processes', () => {
  const script = (body: string): string => `
    const { syncBuiltinESMExports } = await import('node:module');
    const fs = (await import('node:fs')).default;
    const readdir = fs.readdirSync;
    fs.readdirSync = (path, ...more) => { if (path === '/proc') throw new Error('EACCES'); return readdir(path, ...more); };
    syncBuiltinESMExports();
    ${body}`;

  it('is not confirmed if processes cannot be listed, although the process group is killed', function () {
    if (process.platform !== 'linux') this.skip();
    const path = (name: string) => JSON.stringify(fileURLToPath(new URL(`../src/process/${name}.ts`, import.meta.url)));
    const body = script(`
      const { startProgram } = await import(${path('program')});
      const { listProcesses } = await import(${path('identity')});
      let pid;
      const program = startProgram({
        program: process.execPath, cwd: '/', env: {}, mark: 'test-unlisted', input: '',
        args: ['-e', 'process.on("SIGTERM", () => {}); console.log(process.pid); setInterval(() => {}, 1000)'],
        onOutput: (line) => { pid ??= Number(line); },
      });
      while (pid === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
      const areGone = await program.end();
      const exit = await program.exited;
      console.log(JSON.stringify({ listed: listProcesses('x') ?? null, areGone, signal: exit.signal }));
      process.exit();`);
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', body],
      { encoding: 'utf8' },
    );
    assert.deepEqual(JSON.parse(stdout || '{}'), { listed: null, areGone: false, signal: 'SIGKILL' }, stderr);
  });

  it('is confirmed if the list of processes contains none of them', async () => {
    const mark = `test-listed-${process.pid}`;
    const program = startProgram({
      program: process.execPath,
      args: ['-e', 'setInterval(() => undefined, 1000)'],
      cwd: '/',
      env: {},
      mark,
      onOutput: () => undefined,
    });
    await until(() => findProcesses(mark).length > 0);
    assert.equal(await program.end(), true);
    assert.deepEqual(listProcesses(mark), []);
    assert.equal(await endProcesses(mark), true);
  });
});
