import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
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

const ASKED = z.object({ id: z.union([z.string(), z.number()]) });
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
    const versions = ['git version 1.9.1', 'git version 2.4.11', 'git version 2.31.0', 'git version 3.0.0', 'odd'];
    assert.deepEqual(versions.map(isTooOld), [true, true, false, false, false]);
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

  function commandFor(url: string, worktrees: string) {
    const repo = newRepository(`${folder}/repo`);
    installStandIn(`${folder}/bin`, 'result();');
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const program = [
      '--disable-warning=ExperimentalWarning',
      main,
      '--repo',
      repo,
      '--url',
      url,
      '--worktrees',
      worktrees,
    ];
    return { program, env: { ...process.env, PATH: `${folder}/bin:${process.env['PATH']}`, MUSTER_TOKEN: 'mk_a.b' } };
  }

  for (const [what, registered, args, says] of [
    ['its owner', { owner: 'ada@example.com' }, [], /tasks of ada@example\.com and the agents of ada@example\.com in/],
    ['an owner that an older hub does not name', {}, [], /tasks of its owner and the agents of its owner in/],
    ['everyone', { owner: 'ada@example.com' }, ['--for', 'workspace'], /tasks of every worker in/],
  ] as const)
    it(`prints that it takes the tasks of ${what}`, async () => {
      // Every response registers the runner. It contains no task, so the first claim ends the runner.
      const server = createServer(async (request, response) => {
        const { id } = ASKED.parse(await json(request));
        const structuredContent = { result: { agentId: 'agent-1', workspace: 'alpha', ...registered } };
        const discovered = {
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {} },
          serverInfo: { name: 'hub', version: '1' },
        };
        const result = { resultType: 'complete', ...discovered, content: [], structuredContent };
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const { program, env } = commandFor(`http://127.0.0.1:${port}/mcp`, `${folder}/worktrees`);
      const printed = await text(spawn(process.execPath, [...program, ...args], { env }).stderr);
      server.close();
      assert.match(printed, says);
      assert.match(printed, / in the workspace "alpha"\./);
    });

  it('prints one line and exits with 1 if it is refused, before any call to the hub', () => {
    const { program, env } = commandFor('http://127.0.0.1:9/mcp', `${folder}/repo/.git/w`);
    const { status, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8', env });
    assert.equal(status, 1);
    assert.match(stderr, /^The folder for worktrees is below a \.git folder[^\n]*\n$/);
  });
});
