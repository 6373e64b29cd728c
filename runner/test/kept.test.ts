/** Worktrees that a runner keeps, and their use by the next attempt and the next runner. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { openRepository } from '../src/git/repository.ts';
import { recover } from '../src/recovery.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';
import { openWork } from './support/worktrees.ts';

const result = z.looseObject({ worktree: z.string().optional(), warnings: z.array(z.string()).default([]) });

describe('the worktree of an attempt', () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
  });
  afterEach(() => removeFolder(folder));

  async function run(agent: string, ...tasks: ConstructorParameters<typeof LocalHub>): Promise<LocalHub> {
    installStandIn(`${folder}/bin`, agent);
    const hub = new LocalHub(...tasks);
    const shutdown = new AbortController();
    const running = startRunner({ folder, repo, hub, shutdown: shutdown.signal, output: [] });
    await until(() => hub.endings.length === tasks.length);
    shutdown.abort();
    await running;
    return hub;
  }

  const worktrees = (): readonly string[] => readdirSync(`${folder}/worktrees`);

  it('is kept if git refuses one of its files, and the next attempt can use the branch', async () => {
    const agent = `
      const first = !fs.existsSync('ours.txt');
      fs.writeFileSync('ours.txt', 'x');
      if (first) fs.writeFileSync('git~1', 'refused');
      else fs.writeFileSync('second.txt', 'x');
      result();`;
    const { endings } = await run(agent, taskOf('one'), { ...taskOf('two'), branch: 'work/one' });
    const [first, second] = endings;
    assert.deepEqual(
      [first?.status, first?.failure?.class, first?.failure?.retryable],
      ['failed', 'crashed', undefined],
    );
    assert.match(first?.failure?.message ?? '', /git~1/);
    const { worktree = '' } = result.parse(first?.result);
    assert.equal(readFileSync(`${worktree}/git~1`, 'utf8'), 'refused');
    assert.equal(second?.status, 'completed', JSON.stringify(second));
    const files = git(repo, 'ls-tree', '--name-only', 'work/one').split('\n');
    assert.deepEqual(files, ['README.md', 'ours.txt', 'second.txt']);
    assert.deepEqual(worktrees(), [worktree.slice(worktree.lastIndexOf('/') + 1)]);
  });

  it('is kept and reported if it has files that a new rule of the agent ignores', async () => {
    const agent =
      "fs.writeFileSync('.gitignore', 'notes/\\n'); fs.mkdirSync('notes'); fs.writeFileSync('notes/a', 'x'); result();";
    const [ending] = (await run(agent, taskOf('one'))).endings;
    assert.equal(ending?.status, 'completed');
    const { worktree = '', warnings } = result.parse(ending?.result);
    assert.equal(readFileSync(`${worktree}/notes/a`, 'utf8'), 'x');
    assert.match(warnings.join('\n'), /git ignores notes\. The worktree is kept/);
  });

  it('is kept if it has ignored files whose names look like patterns of git', async () => {
    const agent =
      "fs.writeFileSync('.gitignore', '*\\n'); for (const name of [':(exclude)a', ':!b', 'c']) fs.writeFileSync(name, 'x'); result();";
    const [ending] = (await run(agent, taskOf('one'))).endings;
    const { worktree = '', warnings } = result.parse(ending?.result);
    for (const name of [':(exclude)a', ':!b', 'c']) assert.equal(readFileSync(`${worktree}/${name}`, 'utf8'), 'x');
    assert.match(warnings.join('\n'), /git ignores .*:\(exclude\)a.*The worktree is kept/);
  });

  it('is removed if rules of the repository ignore all its remaining files', async () => {
    writeFileSync(`${repo}/.gitignore`, '/node_modules/\n*.log\n');
    git(repo, 'add', '.gitignore');
    git(repo, 'commit', '--quiet', '-m', 'Ignore');
    const agent = `
      fs.mkdirSync('node_modules/a', { recursive: true }); fs.writeFileSync('node_modules/a/b', 'x');
      fs.writeFileSync('c.log', 'x');
      fs.mkdirSync('logs/deep', { recursive: true }); fs.writeFileSync('logs/deep/d.log', 'x');
      fs.appendFileSync('.gitignore', 'more/\\n'); result();`;
    const [ending] = (await run(agent, taskOf('one'))).endings;
    assert.deepEqual([ending?.status, result.parse(ending?.result)['worktree']], ['completed', undefined]);
    assert.deepEqual(worktrees(), []);
  });

  it("is on the task's branch for the acceptance command, even if the agent left that branch", async () => {
    const agent = `
      const { execFileSync } = require('node:child_process');
      fs.writeFileSync('done.txt', 'x');
      const git = (...args) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
      git('add', '.'); git('commit', '-qm', 'Done'); git('checkout', '-q', '--detach', 'HEAD~1');
      fs.writeFileSync('left.txt', 'x'); result();`;
    const config = { acceptance: 'test -f done.txt && test -f left.txt && test -z "$(git status --porcelain)"' };
    const [ending] = (await run(agent, { ...taskOf('one'), config })).endings;
    assert.equal(ending?.status, 'completed', JSON.stringify(ending));
  });

  it('does not change a branch that the user has checked out in the meantime', async () => {
    const agent = `
      const { execFileSync } = require('node:child_process');
      execFileSync('git', ['checkout', '-q', '--detach']);
      execFileSync('git', ['-C', ${JSON.stringify(repo)}, 'checkout', '-q', 'work/one']);
      fs.writeFileSync('work.txt', 'x'); result();`;
    const [ending] = (await run(agent, taskOf('one'))).endings;
    assert.equal(git(repo, 'rev-parse', 'work/one'), git(repo, 'rev-parse', 'main'));
    assert.equal(git(repo, 'status', '--porcelain'), '?? notes.txt');
    const kept = /refs\/muster\/kept\/\w+/.exec(result.parse(ending?.result).warnings.join('\n'))?.[0] ?? '';
    assert.equal(git(repo, 'show', `${kept}:work.txt`), 'x');
  });
});

describe('the record of a killed runner', () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
  });
  afterEach(() => removeFolder(folder));

  it('causes no commit that deletes missing files if the agent had not started', async () => {
    const repository = await openRepository(repo);
    const { worktree } = await openWork(repository, folder, 'work');
    rmSync(`${worktree.folder}/README.md`);
    writeFileSync(`${worktree.folder}/new.txt`, 'x');
    const attempts = `${repository.stateFolder}/attempts`;
    mkdirSync(`${attempts}/t1.1`, { recursive: true });
    const facts = {
      mark: 'no-such-mark',
      hub: 'http://127.0.0.1:9/mcp',
      agentId: 'agent-1',
      taskId: 't1',
      epoch: 1,
      leaseSeconds: 120,
    };
    const dead = { pid: 2 ** 30, startedAt: '1', description: 'A task', branch: 'work', worktree: worktree.folder };
    writeFileSync(`${attempts}/t1.1/owner.json`, JSON.stringify({ ...facts, ...dead }));
    const hub = new LocalHub();
    const options = { repository, hub, hubUrl: facts.hub, agentId: 'agent-1', attempts, heartbeatMs: 1000 };
    await recover({ ...options, say: () => undefined });
    await until(() => hub.endings.length === 1);
    assert.ok(!existsSync(worktree.folder));
    assert.equal(git(repo, 'rev-parse', 'work'), git(repo, 'rev-parse', 'main'));
  });
});
