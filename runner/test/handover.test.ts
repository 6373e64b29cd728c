/** Before the agent starts, the runner checks the destination to which it will push the task's work. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { z } from 'zod';
import type { PullRequestDraft } from '../src/hub/hub.ts';
import type { TaskConfig } from '../src/task/config.ts';
import { AttemptFailure } from '../src/task/failure.ts';
import { type DestinationWishes, destinationOf } from '../src/task/handover.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';

const REPORT = z.looseObject({ repository: z.string().optional() });
const PULL_REQUEST: TaskConfig['pullRequest'] = { draft: false };

describe('destinationOf', () => {
  const start = {
    branch: 'work',
    base: { sha: '1'.repeat(40), branch: 'main', description: 'the branch "main"' },
    originBranches: new Set(['main', 'develop', 'work']),
  };
  const noBranch = { sha: '1'.repeat(40), branch: undefined, description: 'the tag "v1"' };
  const standard: DestinationWishes = {
    repository: { hasOrigin: true, project: 'acme/app' },
    project: undefined,
    config: { pullRequest: PULL_REQUEST },
    start,
  };

  for (const [when, wishes, expected] of [
    ['the base is a branch of origin', {}, ['acme', 'app', 'main']],
    ['--project names another repository', { project: 'other/app' }, ['other', 'app', 'main']],
    ['--project is a label', { project: 'backend' }, ['acme', 'app', 'main']],
    [
      'the base is a tag and the task names a branch',
      { config: { base: 'v1', pullRequest: { draft: false, base: 'develop' } }, start: { ...start, base: noBranch } },
      ['acme', 'app', 'develop'],
    ],
    [
      'the task names a branch of the repository that --project names',
      { project: 'other/app', config: { pullRequest: { draft: false, base: 'theirs' } } },
      ['other', 'app', 'theirs'],
    ],
  ] as const)
    it(`returns the destination ${expected.join(' ')} if ${when}`, () => {
      const { pullRequest } = destinationOf({ ...standard, ...wishes });
      assert.deepEqual([pullRequest?.owner, pullRequest?.repo, pullRequest?.base], expected);
    });

  it('returns no destination if no pull request is requested, even if there is no project', () => {
    const repository = { hasOrigin: true, project: undefined };
    assert.deepEqual(destinationOf({ ...standard, repository, config: {}, start: { ...start, base: noBranch } }), {});
  });

  for (const [when, wishes, message, retryable] of [
    ['there is no origin', { repository: { hasOrigin: false, project: undefined } }, /no remote "origin"/, true],
    [
      'origin is not on GitHub',
      { repository: { hasOrigin: true, project: undefined } },
      /"origin" is not on github\.com\. Start the runner with --project/,
      true,
    ],
    [
      'origin is not on GitHub and --project is a label',
      { repository: { hasOrigin: true, project: undefined }, project: 'backend' },
      /Start the runner with --project/,
      true,
    ],
    [
      "the runner's base is a tag",
      { start: { ...start, base: noBranch } },
      /the tag "v1"\. Set config\.pullRequest\.base/,
      true,
    ],
    [
      "the task's base is a tag",
      { config: { base: 'v1', pullRequest: PULL_REQUEST }, start: { ...start, base: noBranch } },
      /the tag "v1"\. Set config\.pullRequest\.base/,
      false,
    ],
    [
      'origin does not have the base branch',
      { start: { ...start, originBranches: new Set(['work']) } },
      /origin has no branch "main"/,
      true,
    ],
    [
      'origin does not have the branch that the task names',
      { config: { pullRequest: { draft: false, base: 'nope' } } },
      /origin has no branch "nope"/,
      false,
    ],
    [
      'the branch to merge into is the one to merge',
      { config: { pullRequest: { draft: false, base: 'work' } } },
      /"work" is the task's own branch/,
      false,
    ],
  ] as const)
    it(`throws an error for a pull request if ${when}`, () =>
      assert.throws(
        () => destinationOf({ ...standard, ...wishes }),
        (error: unknown) => {
          assert.ok(error instanceof AttemptFailure);
          assert.match(error.message, message);
          assert.equal(error.retryable, retryable);
          return true;
        },
      ));
});

class GitHubHub extends LocalHub {
  readonly drafts: PullRequestDraft[] = [];

  override createPullRequest(draft: PullRequestDraft) {
    this.drafts.push(draft);
    return Promise.resolve({ number: 7 });
  }
}

describe("a task's work", () => {
  let folder: string;
  let repo: string;
  let origin: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    origin = `${folder}/origin.git`;
    git(folder, 'clone', '--quiet', '--bare', repo, origin);
    git(repo, 'remote', 'add', 'origin', origin);
  });
  afterEach(() => removeFolder(folder));

  const WORK = "fs.writeFileSync('work.txt', 'x');";

  async function run(hub: LocalHub, args: readonly string[], agent = WORK): Promise<boolean> {
    const shell = "const sh = (command) => require('node:child_process').execSync(command);";
    const started = `fs.writeFileSync(${JSON.stringify(`${folder}/started`)}, '');`;
    installStandIn(`${folder}/bin`, `${shell} ${started} ${agent} result();`);
    const { signal } = new AbortController();
    return startRunner({ folder, repo, hub, args: ['--once', ...args], shutdown: signal, output: [] });
  }

  const hasStarted = () => existsSync(`${folder}/started`);

  it('is pushed to origin, and gets a pull request from the hub', async () => {
    const hub = new GitHubHub({ ...taskOf('t1'), config: { pullRequest: true } });
    assert.equal(await run(hub, ['--project', 'acme/app']), true);
    assert.equal(git(origin, 'show', 'work/t1:work.txt'), 'x');
    const [{ owner, repo: name, head, base } = {}] = hub.drafts;
    assert.deepEqual([owner, name, head, base], ['acme', 'app', 'work/t1', 'main']);
  });

  for (const [when, arrange, args] of [
    ['the base is a tag', () => git(repo, 'tag', 'v1'), ['--base', 'v1', '--project', 'acme/app']],
    ['HEAD is detached', () => git(repo, 'checkout', '--quiet', '--detach'), ['--project', 'acme/app']],
    ['origin is a local path', () => undefined, []],
    ['there is no origin', () => git(repo, 'remote', 'remove', 'origin'), ['--project', 'acme/app']],
    ['origin does not respond', () => git(repo, 'remote', 'set-url', 'origin', `${folder}/no`), ['--push']],
  ] as const)
    it(`does not start for a pull request or a push if ${when}`, async () => {
      arrange();
      const hub = new GitHubHub({ ...taskOf('t1'), config: { pullRequest: true } });
      assert.equal(await run(hub, args), false);
      const [{ status, failure } = {}] = hub.endings;
      assert.deepEqual([status, failure?.class, failure?.retryable], ['failed', 'crashed', undefined]);
      assert.equal(hasStarted(), false);
      assert.deepEqual(hub.drafts, []);
      assert.equal(git(repo, 'for-each-ref', 'refs/heads/work'), '');
    });

  it('is released for another runner if the runner stops while origin does not respond', async () => {
    const shutdown = new AbortController();
    const server = createServer((request) => {
      shutdown.abort();
      request.socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    git(repo, 'remote', 'set-url', 'origin', `http://127.0.0.1:${address.port}/origin.git`);
    const hub = new GitHubHub(taskOf('t1'));
    installStandIn(`${folder}/bin`, 'result();');
    try {
      await startRunner({ folder, repo, hub, args: ['--push'], shutdown: shutdown.signal, output: [] });
    } finally {
      server.close();
    }
    const [{ status, failure } = {}] = hub.endings;
    assert.deepEqual([status, failure?.class], ['failed', 'runner_lost']);
  });

  for (const [when, args, isOnlyHere] of [
    ['no push is requested', [], true],
    ['origin refuses the push', ['--push'], true],
    ['it is pushed', ['--push'], false],
    ['it is pushed and the hub refuses the pull request', ['--project', 'acme/app'], false],
  ] as const)
    it(`is reported ${isOnlyHere ? 'with' : 'without'} the path of the repository if ${when}`, async () => {
      if (when === 'origin refuses the push')
        writeFileSync(`${origin}/hooks/pre-receive`, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      const hub = new GitHubHub({ ...taskOf('t1'), config: { pullRequest: args[0] === '--project' } });
      hub.createPullRequest = () => Promise.reject(new Error('refused'));
      await run(hub, args);
      const { repository } = REPORT.parse(hub.endings[0]?.result);
      assert.equal(repository, isOnlyHere ? repo : undefined);
    });

  it('can start from a detached HEAD if it needs no pull request', async () => {
    git(repo, 'checkout', '--quiet', '--detach');
    const hub = new GitHubHub(taskOf('t1'));
    assert.equal(await run(hub, []), true);
    assert.equal(await run(new GitHubHub(taskOf('t2')), ['--push']), true);
    assert.equal(git(origin, 'show', 'work/t2:work.txt'), 'x');
  });

  it('stays in the local branch, and fails as retryable, if origin has other commits', async () => {
    const hub = new GitHubHub({ ...taskOf('t1'), config: { pullRequest: true } });
    const other = `const tree = sh("git -C '${origin}' write-tree").toString().trim();
      sh("git -C '${origin}' update-ref refs/heads/work/t1 $(git -C '${origin}' -c user.name=a -c user.email=a@b commit-tree -m Other " + tree + ")");`;
    assert.equal(await run(hub, ['--project', 'acme/app'], `${WORK} ${other}`), false);
    const [{ status, failure } = {}] = hub.endings;
    assert.equal(status, 'failed');
    assert.match(failure?.message ?? '', /could not be pushed.*rejected/s);
    assert.equal(failure?.retryable, undefined);
    assert.equal(git(repo, 'show', 'work/t1:work.txt'), 'x');
    assert.deepEqual(hub.drafts, []);
  });

  it('fails without a retry if a hook of origin refuses the push', async () => {
    writeFileSync(`${origin}/hooks/pre-receive`, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const hub = new GitHubHub(taskOf('t1'));
    assert.equal(await run(hub, ['--push']), false);
    const [{ status, failure } = {}] = hub.endings;
    assert.deepEqual([status, failure?.retryable], ['failed', false]);
    assert.equal(git(repo, 'show', 'work/t1:work.txt'), 'x');
  });

  it('completes if the push is refused, but origin already has the commits', async () => {
    // Another clone pushes the task's commit and one more commit, so that origin is ahead of this clone.
    const ahead = `sh('git add work.txt && git -c user.name=a -c user.email=a@b commit -qm Work');
      sh("git push -q '${origin}' HEAD:refs/heads/work/t1");
      const next = sh('git -c user.name=a -c user.email=a@b commit-tree -p HEAD -m Next HEAD^{tree}').toString().trim();
      sh("git push -q '${origin}' " + next + ':refs/heads/work/t1');`;
    const hub = new GitHubHub(taskOf('t1'));
    assert.equal(await run(hub, ['--push'], `${WORK} ${ahead}`), true);
    assert.equal(git(origin, 'log', '-1', '--format=%s', 'work/t1'), 'Next');
  });

  it('gets another branch name if an existing branch blocks the name that the hub chose', async () => {
    git(repo, 'branch', 'task');
    const hub = new GitHubHub({ ...taskOf('task-1234abcd'), branch: 'task/1234abcd-login' });
    assert.equal(await run(hub, ['--push']), true);
    assert.equal(git(origin, 'show', 'task-1234abcd-login:work.txt'), 'x');
    const [ending] = hub.endings;
    assert.match(JSON.stringify(ending?.result), /"branch":"task-1234abcd-login"/);
    assert.match(JSON.stringify(ending?.result), /"path":"work.txt"/);
  });

  it('is returned to the queue if another task of the runner uses the same branch', async () => {
    const go = JSON.stringify(`${folder}/go`);
    const waiting = `const wait = setInterval(() => { if (!fs.existsSync(${go})) return; clearInterval(wait); result(); }, 20);`;
    installStandIn(`${folder}/bin`, waiting);
    const hub = new LocalHub({ ...taskOf('t1'), branch: 'feature/auth' }, { ...taskOf('t2'), branch: 'feature/auth' });
    const shutdown = new AbortController();
    const args = ['--concurrency', '2'];
    const running = startRunner({ folder, repo, hub, args, shutdown: shutdown.signal, output: [] });
    await until(() => hub.endings.length === 1);
    writeFileSync(`${folder}/go`, '');
    await until(() => hub.endings.length === 2);
    shutdown.abort();
    await running;
    const [returned, done] = hub.endings;
    assert.match(returned?.failure?.message ?? '', /"feature\/auth" is checked out/);
    assert.notEqual(returned?.failure?.retryable, false);
    assert.equal(done?.status, 'completed');
  });
});
