/** Git hooks must run for the commits of coding agents, but not for the runner's own git commands. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { wordsOf } from '../../test/support/words.ts';
import { changesSince } from '../src/git/changes.ts';
import { gitIn } from '../src/git/git.ts';
import { openRepository, type Repository } from '../src/git/repository.ts';
import { removeWorktree, type Worktree } from '../src/git/worktree.ts';
import type { Hub } from '../src/hub/hub.ts';
import { createRedactor } from '../src/redaction.ts';
import { handOver } from '../src/task/handover.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { openWork } from './support/worktrees.ts';

/** All hooks that git can run in a user's repository. Source: https://git-scm.com/docs/githooks */
const HOOKS = wordsOf(`
  applypatch-msg commit-msg post-checkout post-commit post-index-change post-merge post-rewrite pre-auto-gc
  pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg reference-transaction fsmonitor-watchman
`);

const hub: Pick<Hub, 'createPullRequest'> = { createPullRequest: async () => ({ number: 1 }) };

describe("the runner's git", () => {
  let folder: string;
  let repo: string;
  let ran: string;
  let repository: Repository;

  beforeEach(async () => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    ran = `${folder}/ran`;
    git(folder, 'clone', '--quiet', '--bare', repo, `${folder}/origin.git`);
    git(repo, 'remote', 'add', 'origin', `${folder}/origin.git`);
    repository = await openRepository(repo);
  });
  afterEach(() => removeFolder(folder));

  function installHooks(at: string): void {
    mkdirSync(at, { recursive: true });
    for (const hook of HOOKS) writeFileSync(`${at}/${hook}`, `#!/bin/sh\necho ${hook} >> '${ran}'\n`, { mode: 0o755 });
  }

  /** Runs every git command of an attempt in which the agent has checked out another branch. */
  async function work(): Promise<Worktree> {
    const { worktree, settle } = await openWork(repository, folder, 'work', true);
    writeFileSync(`${worktree.folder}/a.ts`, 'a\n');
    await settle('A');
    await gitIn(worktree.folder)('checkout', '--quiet', '--detach', 'main');
    writeFileSync(`${worktree.folder}/b.ts`, 'b\n');
    await settle('B');
    await changesSince(repository.git, 'main', 'work');
    const task = { id: 't1', epoch: 1, tool: 'CLAUDECODE' as const, description: 'x', instructions: 'x' };
    await handOver({
      repository,
      hub,
      task: { ...task, branch: 'work', config: {}, attempt: 1, messages: [] },
      redactor: createRedactor([], {}),
      branch: 'work',
      summary: '',
      wish: undefined,
      destination: {},
      onPushed: () => undefined,
      signal: new AbortController().signal,
    });
    return worktree;
  }

  for (const [where, install] of [
    ["of the repository's hooks folder", () => installHooks(`${repo}/.git/hooks`)],
    [
      'of the folder in core.hooksPath',
      () => {
        installHooks(`${folder}/husky`);
        git(repo, 'config', 'core.hooksPath', `${folder}/husky`);
      },
    ],
    [
      'that the setting core.fsmonitor names',
      () => {
        installHooks(`${folder}/hooks`);
        git(repo, 'config', 'core.fsmonitor', `${folder}/hooks/fsmonitor-watchman`);
      },
    ],
  ] as const)
    it(`runs no hook ${where} during an attempt`, async () => {
      install();
      const worktree = await work();
      await removeWorktree(worktree);
      assert.equal(existsSync(ran) ? readFileSync(ran, 'utf8') : '', '');
      assert.equal(git(`${folder}/origin.git`, 'log', '-1', '--format=%s', 'work'), 'B');
    });

  it('disables each hook that is defined in the git configuration', async () => {
    git(repo, 'config', 'hook.linter.event', 'pre-commit');
    git(repo, 'config', 'hook.linter.command', 'false');
    git(repo, 'config', 'hook.my tests.command', 'false');
    // This git reports a version with hooks in its configuration, and passes other commands to the installed git.
    const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    mkdirSync(`${folder}/bin`);
    const newer = `#!/bin/sh\n[ "$1" = --version ] && echo 'git version 2.54.0' || exec '${real}' "$@"\n`;
    writeFileSync(`${folder}/bin/git`, newer, { mode: 0o755 });
    const own = gitIn(repo, { env: { ...process.env, PATH: `${folder}/bin${delimiter}${process.env['PATH']}` } });
    for (const name of ['linter', 'my tests'])
      assert.equal(await own('--no-pager', 'config', '--get', `hook.${name}.enabled`), 'false');
  });

  it('leaves the hooks enabled for commits of coding agents', async () => {
    installHooks(`${repo}/.git/hooks`);
    const worktree = await work();
    rmSync(`${worktree.folder}/a.ts`);
    git(worktree.folder, 'commit', '--quiet', '--all', '-m', 'By the agent');
    assert.match(readFileSync(ran, 'utf8'), /^pre-commit$/m);
  });
});
