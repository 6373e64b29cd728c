/** Programs that the runner's git starts must not prompt at the terminal. Source: docs/guides/runner.md. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { z } from 'zod';
import { gitIn } from '../src/git/git.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';

const seen = z.object({
  program: z.string(),
  arguments: z.array(z.string()),
  session: z.string(),
  env: z.record(z.string(), z.string()),
});

describe("the ssh program of the runner's git", () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    git(repo, 'remote', 'add', 'origin', 'ssh://git@example.invalid/a/b.git');
    for (const name of ['ssh', 'my-ssh']) install(name);
  });
  afterEach(() => removeFolder(folder));

  /** Installs a program that replaces ssh and records its arguments and environment. */
  function install(name: string): void {
    const out = JSON.stringify(`${folder}/seen.json`);
    const session = "require('node:fs').readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[3]";
    const program = `#!${process.execPath}
      const seen = { program: ${JSON.stringify(name)}, arguments: process.argv.slice(2), session: process.platform === 'linux' ? ${session} : '', env: process.env };
      require('node:fs').writeFileSync(${out}, JSON.stringify(seen));
      process.exit(1);`;
    writeFileSync(`${folder}/${name}`, program, { mode: 0o755 });
  }

  async function started(env: NodeJS.ProcessEnv = {}) {
    const path = `${folder}${delimiter}${process.env['PATH']}`;
    await assert.rejects(gitIn(repo, { env: { ...process.env, PATH: path, ...env } })('fetch', 'origin'));
    return seen.parse(JSON.parse(readFileSync(`${folder}/seen.json`, 'utf8')));
  }

  it('cannot prompt through a terminal, an askpass program or a credential manager', async () => {
    const { program, arguments: args, session, env } = await started({ SSH_ASKPASS: '/bin/false' });
    assert.equal(program, 'ssh');
    assert.deepEqual(args.slice(0, 2), ['-o', 'BatchMode=yes']);
    const { GIT_TERMINAL_PROMPT, SSH_ASKPASS_REQUIRE, GCM_INTERACTIVE, SSH_ASKPASS } = env;
    assert.deepEqual(
      { GIT_TERMINAL_PROMPT, SSH_ASKPASS_REQUIRE, GCM_INTERACTIVE, SSH_ASKPASS },
      { GIT_TERMINAL_PROMPT: '0', SSH_ASKPASS_REQUIRE: 'never', GCM_INTERACTIVE: 'never', SSH_ASKPASS: undefined },
    );
    if (process.platform !== 'linux') return;
    const own = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[3];
    assert.notEqual(session, own, 'ssh runs in the session of the runner');
  });

  it('is the program in the variable GIT_SSH_COMMAND, if it is set', async () => {
    const { program, arguments: args } = await started({ GIT_SSH_COMMAND: `${folder}/my-ssh -i key` });
    assert.equal(program, 'my-ssh');
    assert.deepEqual(args.slice(0, 2), ['-i', 'key']);
  });

  it('is the program in the git setting core.sshCommand, if it is set', async () => {
    git(repo, 'config', 'core.sshCommand', `${folder}/my-ssh -i key`);
    assert.equal((await started()).program, 'my-ssh');
  });

  it('gets the variable GIT_ASKPASS, through which systems pass credentials', async () =>
    assert.equal((await started({ GIT_ASKPASS: '/bin/true' })).env['GIT_ASKPASS'], '/bin/true'));
});
