/** Checks of a coding task's work: the required command, and whether the branch merges into its base. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import type { ClaimedTask } from '../src/hub/hub.ts';
import { commitOn, reportOf, stateOf } from './support/commands.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';

describe("the check of an attempt's work", () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
  });
  afterEach(() => removeFolder(folder));

  const WORK = "fs.writeFileSync('README.md', '# Mine\\n');";

  /** Runs tasks. During the first, another branch of the user is committed to main, if `theirs` is given. */
  async function run(tasks: readonly ClaimedTask[], theirs?: Readonly<Record<string, string>>, agent = WORK) {
    const base = git(repo, 'rev-parse', 'main');
    const tip = theirs === undefined ? base : commitOn(repo, 'theirs', theirs);
    const moves = `require('node:child_process').execFileSync('git', ['-C', ${JSON.stringify(repo)}, 'update-ref', 'refs/heads/main', '${tip}']);`;
    installStandIn(`${folder}/bin`, `${agent} ${moves} result();`);
    const hub = new LocalHub(...tasks);
    const output: string[] = [];
    const shutdown = new AbortController();
    const ended = hub.end.bind(hub);
    hub.end = async (...args) => {
      const outcome = await ended(...args);
      if (hub.endings.length === tasks.length) shutdown.abort();
      return outcome;
    };
    await startRunner({ folder, repo, hub, shutdown: shutdown.signal, output });
    return { hub, output, tip, ending: hub.endings[0], report: reportOf(hub.endings[0]) };
  }

  const proven = (command?: string): ClaimedTask => ({ ...taskOf('t1'), acceptance: { command } });

  it('reports that the branch merges into its base, and changes neither base nor checkout', async () => {
    const index = () => readFileSync(`${repo}/.git/index`).toString('hex');
    const before = [...stateOf(repo), index()];
    const { ending, report, tip } = await run([proven()]);
    assert.equal(ending?.status, 'completed');
    assert.deepEqual(report.merge, { into: 'main', base: tip, clean: true, conflicts: [] });
    git(repo, 'branch', '--quiet', '-D', 'work/t1');
    assert.deepEqual([...stateOf(repo), index()], before);
  });

  it('fails a task with required checks if the base has moved and conflicts with the branch', async () => {
    const { ending, report, tip } = await run([proven()], { 'README.md': '# Theirs\n' });
    assert.deepEqual(
      [ending?.status, ending?.failure?.class, ending?.failure?.message],
      ['failed', 'acceptance_failed', 'It does not merge into main: README.md'],
    );
    assert.deepEqual(report.merge, { into: 'main', base: tip, clean: false, conflicts: ['README.md'] });
    assert.equal(report.head, git(repo, 'rev-parse', 'work/t1'));
  });

  it('only warns about a conflict if the task requires no checks', async () => {
    const { ending, report, hub } = await run([taskOf('t1')], { 'README.md': '# Theirs\n' });
    assert.equal(ending?.status, 'completed');
    assert.deepEqual(report.warnings, ['It does not merge into main: README.md']);
    assert.ok(hub.lines.includes('It does not merge into main: README.md'));
  });

  it('is omitted if the base is not a branch', async () => {
    git(repo, 'tag', 'v1');
    const { report } = await run([{ ...proven(), config: { base: 'v1' } }], { 'README.md': '# Theirs\n' });
    assert.deepEqual([report.merge, report.warnings], [undefined, []]);
  });

  it('is omitted with git before 2.38, and the runner states this once', async () => {
    const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    mkdirSync(`${folder}/old`);
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo 'git version 2.37.9' && exit\nexec '${real}' "$@"\n`;
    writeFileSync(`${folder}/old/git`, script);
    chmodSync(`${folder}/old/git`, 0o755);
    const path = process.env['PATH'];
    process.env['PATH'] = `${folder}/old${delimiter}${path}`;
    try {
      const { hub, output } = await run([proven(), taskOf('t2')], { 'README.md': '# Theirs\n' });
      assert.deepEqual(
        hub.endings.map((ending) => [ending.status, reportOf(ending).merge, reportOf(ending).warnings]),
        [
          ['completed', undefined, []],
          ['completed', undefined, []],
        ],
      );
      assert.equal(output.filter((line) => line.includes('This requires git 2.38 or later.')).length, 1);
    } finally {
      process.env['PATH'] = path;
    }
  });

  it("uses the command of the task's required checks, and reports the end of its output", async () => {
    const task = { ...proven('echo "1 test failed"; exit 1'), config: { acceptance: 'true' } };
    const { ending, report } = await run([task]);
    assert.equal(report.acceptance?.command, 'echo "1 test failed"; exit 1');
    assert.equal(ending?.failure?.class, 'acceptance_failed');
    assert.match(ending?.failure?.message ?? '', /^Acceptance command failed: .*\n1 test failed$/);
    assert.equal(report.head, git(repo, 'rev-parse', 'work/t1'), 'the report has the work');
  });

  it('states if the required command was stopped, because it took too long', async () => {
    const { ending } = await run([{ ...proven('echo slow; sleep 600'), config: { silenceSeconds: 1 } }]);
    assert.equal(ending?.failure?.message, 'Acceptance command was stopped: echo slow; sleep 600\nslow');
  });

  it('reports the unchanged text of a required command of 2,000 characters', async () => {
    const command = `: ${'漢'.repeat(1998)}`;
    const { report } = await run([proven(command)]);
    assert.equal(report.acceptance?.command, command);
  });
});
