import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CodingTool } from '../src/hub/hub.ts';
import {
  CannotStart,
  checkAgents,
  checkGit,
  checkSystem,
  checkWorktrees,
  isTooOld,
  type Machine,
} from '../src/start.ts';
import { newFolder, newRepository, removeFolder } from './support/folders.ts';
import { installStandIn } from './support/standIn.ts';

const root = { platform: 'linux', uid: 0, env: {} } as const;

function refused(check: () => void): string {
  try {
    check();
  } catch (error) {
    assert.ok(error instanceof CannotStart, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  return '';
}

describe('the start of a runner', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => removeFolder(folder));

  it('is refused on Windows with an error that recommends WSL', () => {
    const message = refused(() => checkSystem({ platform: 'win32' }));
    assert.match(message, /WSL/);
    for (const platform of ['linux', 'darwin', 'freebsd'] as const)
      assert.equal(
        refused(() => checkSystem({ platform })),
        '',
      );
  });

  it('is refused as root with --unsafe if Claude Code is installed, except in a sandbox', () => {
    const check = (tools: readonly CodingTool[], unsafe: boolean, machine: Machine = root) =>
      refused(() => checkAgents(tools, unsafe, machine));
    assert.match(check(['CLAUDECODE'], true), /as another user.*container/);
    assert.match(check(['GEMINI', 'CLAUDECODE'], true), /as another user/);
    assert.equal(check(['GEMINI'], true), '');
    assert.equal(check(['CLAUDECODE'], false), '');
    assert.equal(check(['CLAUDECODE'], true, { ...root, uid: 1000 }), '');
    assert.equal(check(['CLAUDECODE'], true, { ...root, env: { IS_SANDBOX: '1' } }), '');
  });

  it('is refused if no coding agent is installed', () => {
    const message = refused(() => checkAgents([], false, root));
    assert.match(message, /No coding agent found/);
  });

  it('is refused if git is missing, broken or too old', async () => {
    const bin = `${folder}/bin`;
    const why = (env: NodeJS.ProcessEnv) =>
      checkGit(env).then(
        () => '',
        (error: Error) => error.message,
      );
    assert.match(await why({ PATH: `${folder}/nowhere` }), /Cannot run git/);
    mkdirSync(bin);
    const install = (script: string) => writeFileSync(`${bin}/git`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    install('exit 1');
    assert.match(await why({ PATH: bin }), /Cannot run git/);
    install('echo git version 2.30.9');
    assert.match(await why({ PATH: bin }), /needs git 2\.31 or newer, but found git version 2\.30\.9/);
    install('echo "git version 2.39.3 (Apple Git-146)"');
    assert.equal(await why({ PATH: bin }), '');
    assert.deepEqual(
      ['git version 1.9.1', 'git version 2.4.11', 'git version 2.31.0', 'git version 3.0.0', 'odd'].map(isTooOld),
      [true, true, false, false, false],
    );
  });

  it('is refused if the folder for worktrees is below a .git folder, even through a link', () => {
    const repo = newRepository(`${folder}/repo`);
    const message = refused(() => checkWorktrees(`${repo}/.git/worktrees-of-mine`));
    assert.match(message, /below a \.git/);
    mkdirSync(`${repo}/.git/real`);
    symlinkSync(`${repo}/.git/real`, `${folder}/link`);
    assert.match(
      refused(() => checkWorktrees(`${folder}/link`)),
      /below a \.git/,
    );
    assert.equal(
      refused(() => checkWorktrees(`${folder}/deep/worktrees`)),
      '',
    );
    assert.deepEqual(readdirSync(`${folder}/deep/worktrees`), []);
  });

  it('is refused if the folder for worktrees is not writable', () => {
    writeFileSync(`${folder}/file`, '');
    const message = refused(() => checkWorktrees(`${folder}/file/worktrees`));
    assert.match(message, /Cannot write to the folder/);
    // No one can create files in this folder, not even root.
    assert.match(
      refused(() => checkWorktrees('/proc/self')),
      /Cannot write to the folder/,
    );
  });

  it('prints one line and exits with 1 if it is refused, before any call to the hub', () => {
    const repo = newRepository(`${folder}/repo`);
    installStandIn(`${folder}/bin`, 'result();');
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const args = ['--repo', repo, '--url', 'http://127.0.0.1:9/mcp', '--worktrees', `${repo}/.git/w`];
    const { status, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${folder}/bin:${process.env['PATH']}`, MUSTER_TOKEN: 'mk_a.b' },
    });
    assert.equal(status, 1);
    assert.match(stderr, /^The folder for worktrees is below a \.git folder[^\n]*\n$/);
  });
});
