import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { openRepository, type Repository } from '../src/git/repository.ts';
import { removeWorktree } from '../src/git/worktree.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';
import { type Opened, openWork } from './support/worktrees.ts';

/** Settings that allow git to clone submodules from local folders. */
const FROM_FOLDERS = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'protocol.file.allow', GIT_CONFIG_VALUE_0: 'always' };

describe('the submodules of a task', () => {
  let folder: string;
  let repo: string;
  let repository: Repository;

  beforeEach(async () => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    newRepository(`${folder}/library`);
    newRepository(`${folder}/inner`);
    Object.assign(process.env, FROM_FOLDERS);
    addSubmodule(`${folder}/library`, `${folder}/inner`, 'inner');
    addSubmodule(repo, `${folder}/library`, 'vendor/my library');
    repository = await openRepository(repo);
  });
  afterEach(() => {
    for (const name of [...Object.keys(FROM_FOLDERS), 'GIT_TEMPLATE_DIR']) delete process.env[name];
    removeFolder(folder);
  });

  function addSubmodule(to: string, from: string, path: string): void {
    git(to, 'submodule', '--quiet', 'add', from, path);
    git(to, 'commit', '--quiet', '-m', 'Add a submodule');
  }

  const open = (): Promise<Opened> => openWork(repository, folder, 'work');

  it('are checked out recursively, and no hook from a git template runs', async () => {
    const hooks = `${folder}/template/hooks`;
    mkdirSync(hooks, { recursive: true });
    writeFileSync(`${hooks}/post-checkout`, `#!/bin/sh\ntouch '${folder}/ran'\n`, { mode: 0o755 });
    process.env['GIT_TEMPLATE_DIR'] = `${folder}/template`;
    const configuration = readFileSync(`${repo}/.git/config`, 'utf8');
    const { worktree, missed, settle } = await open();
    assert.deepEqual(missed, []);
    assert.equal(readFileSync(`${repo}/.git/config`, 'utf8'), configuration, "the user's configuration");
    for (const path of ['README.md', 'inner/README.md'])
      assert.equal(readFileSync(`${worktree.folder}/vendor/my library/${path}`, 'utf8'), '# Example\n');
    assert.ok(!existsSync(`${folder}/ran`));
    const { notes, commit } = await settle();
    assert.deepEqual([notes, commit], [[], undefined], 'no change is reported or committed');
    await removeWorktree(worktree);
    assert.ok(!existsSync(worktree.folder));
  });

  it('are reported by name if they cannot be cloned, and the others are checked out', async () => {
    addSubmodule(repo, `${folder}/inner`, 'vendor/other');
    git(repo, 'config', 'submodule.vendor/my library.url', `${folder}/nowhere`);
    const {
      worktree,
      missed: [missed = '', ...more],
    } = await open();
    assert.match(missed, /^The submodule "vendor\/my library" is missing\. git submodule: .*nowhere/s);
    assert.deepEqual(more, []);
    assert.ok(existsSync(`${worktree.folder}/vendor/other/README.md`));
  });

  it('are named in log and report if they cannot be cloned, and the task continues', async () => {
    git(repo, 'config', 'submodule.vendor/my library.url', `${folder}/nowhere`);
    installStandIn(`${folder}/bin`, 'result();');
    const hub = new LocalHub(taskOf('t1'));
    const shutdown = new AbortController().signal;
    assert.equal(await startRunner({ folder, repo, hub, args: ['--once'], shutdown, output: [] }), true);
    const aloud = /^The submodule "vendor\/my library" is missing/;
    assert.ok(hub.lines.some((line) => aloud.test(line)));
    const [{ status, result } = {}] = hub.endings;
    assert.equal(status, 'completed');
    const { warnings } = z.object({ warnings: z.array(z.string()) }).parse(result);
    assert.match(warnings.join('\n'), aloud);
  });

  it('are missing in the worktree if git does not allow the protocol of their address', async () => {
    for (const name of Object.keys(FROM_FOLDERS)) delete process.env[name];
    const {
      missed: [missed = ''],
      settle,
    } = await open();
    assert.match(missed, /transport 'file' not allowed/);
    const { notes, problem, commit } = await settle();
    assert.deepEqual([notes, problem, commit], [[], undefined, undefined]);
  });

  it('have their changes, committed or not, stored under refs if the task changed them', async () => {
    const { worktree, settle } = await open();
    const inside = `${worktree.folder}/vendor/my library`;
    writeFileSync(`${inside}/committed.ts`, 'one\n');
    git(inside, 'add', '.');
    git(inside, 'commit', '--quiet', '-m', 'By the agent');
    writeFileSync(`${inside}/left.ts`, 'two\n');
    writeFileSync(`${inside}/inner/deep.ts`, 'three\n');
    const output = (await settle()).notes.join('\n');
    const keptOf = (path: string): string =>
      new RegExp(`"${path}" was changed.*(refs/muster/kept/\\w+)`).exec(output)?.[1] ?? '';
    const kept = keptOf('vendor/my library');
    await removeWorktree(worktree);
    assert.equal(git(repo, 'show', `${kept}:left.ts`), 'two');
    assert.equal(git(repo, 'show', `${kept}:committed.ts`), 'one');
    assert.equal(git(repo, 'show', `${keptOf('inner')}:deep.ts`), 'three');
    assert.equal(git(repo, 'rev-parse', 'work:vendor/my library'), git(repo, 'rev-parse', kept));
  });
});
