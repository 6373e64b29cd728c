/** Tests with real git: the branch and base from which a task starts, and branches that block the task's branch. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { GitError } from '../src/git/git.ts';
import { openRepository, type Repository } from '../src/git/repository.ts';
import { BranchBusy } from '../src/git/start/branchUse.ts';
import { findStartingPoint, type StartingPoint, type StartingPointWishes } from '../src/git/start/startingPoint.ts';
import { openWorktree } from '../src/git/worktree.ts';
import { addCommit, copyFolder, git, newFolder, newRepository, removeFolder, writeRef } from './support/folders.ts';

describe('findStartingPoint', () => {
  let own: string;
  let template: string;
  let folder: string;
  let repo: string;
  let origin: string;
  let ownFolder: string;
  let repository: Repository;
  /** The first commit, which both repositories have. */
  let first: string;
  /** The commit that another clone has pushed last, to any branch. */
  let pushedLast: string;

  before(async () => {
    own = newFolder();
    template = `${own}/template`;
    folder = `${own}/test`;
    ownFolder = `${folder}/worktrees`;
    repo = newRepository(`${folder}/repo`);
    origin = `${folder}/origin.git`;
    git(folder, 'clone', '--quiet', '--template=', '--bare', repo, origin);
    git(repo, 'remote', 'add', 'origin', origin);
    git(repo, 'fetch', '--quiet', 'origin');
    first = git(repo, 'rev-parse', 'HEAD');
    repository = await openRepository(repo);
    copyFolder(folder, template);
  });
  after(() => removeFolder(own));

  beforeEach(() => {
    removeFolder(folder);
    copyFolder(template, folder);
    pushedLast = first;
  });

  const find = (wishes: Partial<StartingPointWishes> = {}): Promise<StartingPoint> =>
    findStartingPoint(repository, {
      taskId: 'task-0001',
      branch: 'work',
      base: 'HEAD',
      fetch: true,
      ownFolder,
      signal: new AbortController().signal,
      ...wishes,
    });

  const open = (start: StartingPoint, name = start.branch.replaceAll('/', '-')) =>
    openWorktree(repository, { folder: `${ownFolder}/${name}`, ownFolder, ...start });

  /** Adds a commit to the branch that the user has checked out, and returns the commit's id. */
  function commit(message: string): string {
    const branch = readFileSync(`${repo}/.git/HEAD`, 'utf8').trim().replace('ref: refs/heads/', '');
    return addCommit(`${repo}/.git`, `refs/heads/${branch}`, tipOf(branch), message);
  }

  /** Adds a commit to a branch of origin, as if another clone had pushed it. */
  function pushElsewhere(branch: string, message = `On ${branch}`): string {
    pushedLast = addCommit(origin, `refs/heads/${branch}`, pushedLast, message);
    return pushedLast;
  }

  const tipOf = (branch: string): string => readFileSync(`${repo}/.git/refs/heads/${branch}`, 'utf8').trim();

  const createBranch = (branch: string): void => writeRef(`${repo}/.git`, `refs/heads/${branch}`, first);

  const rejectsAs = (kind: GitError['kind'], message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof GitError, String(error));
    assert.match(error.message, message);
    assert.equal(error.kind, kind);
    return true;
  };

  describe('a task with a base on origin', () => {
    it('starts from commits on origin that the checked-out branch lacks', async () => {
      const pushed = pushElsewhere('main');
      const { at, base, existed, notes } = await find();
      assert.deepEqual([at, base.sha, base.branch, existed], [pushed, pushed, 'main', false]);
      assert.match(notes.join(), /main of origin, because the local branch lacks 1 commit\./);
    });

    it('changes no ref, configuration or checkout at its start, for any fetch settings of git', async () => {
      const settings = `
[fetch]
  prune = true
  pruneTags = true
  recurseSubmodules = true
  writeCommitGraph = true
[remote "origin"]
  tagOpt = --tags
  fetch = +refs/*:refs/*
`;
      appendFileSync(`${repo}/.git/config`, settings);
      for (const ref of ['refs/tags/mine', 'refs/heads/other', 'refs/remotes/origin/gone'])
        writeRef(`${repo}/.git`, ref, first);
      pushElsewhere('main');
      writeRef(origin, 'refs/tags/theirs', pushElsewhere('unrelated'));
      const state = () => [
        git(repo, 'for-each-ref'),
        git(repo, 'status', '--porcelain'),
        git(repo, 'symbolic-ref', 'HEAD'),
        readFileSync(`${repo}/.git/config`, 'utf8'),
        readFileSync(`${repo}/.git/index`, 'hex'),
        existsSync(`${repo}/.git/FETCH_HEAD`) ? readFileSync(`${repo}/.git/FETCH_HEAD`, 'utf8') : '',
        existsSync(`${repo}/.git/objects/info/commit-graphs`),
      ];
      const before = state();
      await find();
      await find({ base: 'theirs' });
      assert.deepEqual(state(), before);
    });

    for (const base of ['main', 'refs/heads/main', 'heads/main', 'origin/main', 'refs/remotes/origin/main', '@{u}'])
      it(`starts from origin's branch "main" if the base is ${base}`, async () => {
        appendFileSync(`${repo}/.git/config`, '[branch "main"]\n  remote = origin\n  merge = refs/heads/main\n');
        const pushed = pushElsewhere('main');
        const found = (await find({ base })).base;
        assert.deepEqual([found.sha, found.branch], [pushed, 'main']);
      });

    for (const base of ['develop', 'origin/develop', 'refs/heads/develop'])
      it(`starts from origin's branch "develop", which is not local, if the base is ${base}`, async () => {
        const pushed = pushElsewhere('develop');
        const found = (await find({ base })).base;
        assert.deepEqual([found.sha, found.branch], [pushed, 'develop']);
      });

    it('starts from a tag or a full commit id that only origin has', async () => {
      const pushed = pushElsewhere('old');
      git(origin, 'tag', '-a', '-m', 'Version 1', 'v1', pushed);
      pushElsewhere('old');
      for (const base of ['v1', 'refs/tags/v1', pushed]) {
        const found = (await find({ base })).base;
        assert.deepEqual([base, found.sha, found.branch], [base, pushed, undefined]);
      }
    });

    it("resolves the base main~1 from origin's branch, and the base HEAD~1 from the checkout", async () => {
      const second = commit('Second');
      assert.equal(pushElsewhere('main', 'Second'), second);
      writeRef(`${repo}/.git`, 'refs/remotes/origin/main', second);
      pushElsewhere('main', 'Third');
      assert.deepEqual((await find({ base: 'main~1' })).base.sha, second);
      assert.deepEqual((await find({ base: 'origin/main^' })).base.sha, second);
      const { base } = await find({ base: 'HEAD~1' });
      assert.deepEqual([base.sha, base.branch], [first, undefined]);
    });

    it("starts from the local branch, and reports this, if it contains origin's branch", async () => {
      const local = commit('Mine');
      const { base, notes } = await find({ base: 'main' });
      assert.equal(base.sha, local);
      assert.match(notes.join(), /local main, because origin lacks 1 commit\./);
    });

    it("starts from origin's branch, and reports this, if the local branch has diverged", async () => {
      const local = commit('Mine');
      const pushed = pushElsewhere('main');
      const { base, notes } = await find({ base: 'main' });
      assert.equal(base.sha, pushed);
      assert.match(notes.join(), /lacks 1 commit of the local branch\. The local branch is unchanged/);
      assert.equal(tipOf('main'), local);
    });

    it('starts from the local branch, and reports this, if origin has no such branch', async () => {
      createBranch('mine');
      const { base, notes, originBranches } = await find({ base: 'mine' });
      assert.deepEqual([base.branch, originBranches?.has('mine')], ['mine', false]);
      assert.match(notes.join(), /"mine" is not on origin/);
    });

    it('starts from the newest commit of another remote if the base names that remote', async () => {
      copyFolder(origin, `${folder}/upstream.git`);
      git(repo, 'remote', 'add', '-f', 'upstream', `${folder}/upstream.git`);
      const newer = addCommit(`${folder}/upstream.git`, 'refs/heads/main', first, 'Upstream');
      const { base } = await find({ base: 'upstream/main' });
      assert.deepEqual([base.sha, base.branch], [newer, undefined]);
      assert.match(base.description, /"main" of the remote "upstream"/);
    });

    it('starts from the checked-out commit if HEAD is detached', async () => {
      writeFileSync(`${repo}/.git/HEAD`, `${first}\n`);
      pushElsewhere('main');
      const { base } = await find();
      assert.deepEqual([base.sha, base.branch], [first, undefined]);
    });
  });

  it('returns no base branch if the base is a tag or a commit', async () => {
    writeRef(`${repo}/.git`, 'refs/tags/v1', first);
    for (const fetch of [true, false])
      for (const base of ['v1', 'refs/tags/v1', first, first.slice(0, 10)]) {
        const found = (await find({ base, fetch })).base;
        assert.deepEqual([base, found.sha, found.branch], [base, first, undefined]);
      }
  });

  it('rejects a base that is both a tag and a branch, unless it is a full ref name', async () => {
    writeRef(`${repo}/.git`, 'refs/tags/v1', first);
    createBranch('v1');
    await assert.rejects(find({ base: 'v1' }), rejectsAs('permanent', /both a branch and a tag/));
    assert.deepEqual((await find({ base: 'refs/tags/v1' })).base, {
      sha: first,
      branch: undefined,
      description: 'the tag "v1"',
    });
    assert.equal((await find({ base: 'refs/heads/v1' })).base.branch, 'v1');
    writeRef(origin, 'refs/tags/v2', pushElsewhere('v2'));
    await assert.rejects(find({ base: 'v2' }), rejectsAs('permanent', /both a branch and a tag/));
  });

  it('rejects a base that does not exist with a permanent error', async () => {
    const nowhere = 'f'.repeat(40);
    for (const fetch of [true, false])
      for (const base of ['nope', 'origin/nope', 'refs/tags/nope', 'main~99', nowhere])
        await assert.rejects(find({ base, fetch }), rejectsAs('permanent', /is not a branch, tag or commit/));
  });

  it("does not contact origin if the task's branch will not be pushed", async () => {
    git(repo, 'remote', 'set-url', 'origin', `${folder}/nowhere.git`);
    const { originBranches, existed } = await find({ fetch: false });
    assert.deepEqual([originBranches, existed], [undefined, false]);
  });

  describe('a task whose branch is on origin', () => {
    it("starts from origin's branch if the branch does not exist locally", async () => {
      const pushed = pushElsewhere('work');
      const start = await find();
      assert.deepEqual([start.existed, start.at], [true, pushed]);
      assert.equal((await open(start)).startedAt, pushed);
    });

    it("fast-forwards the local branch to origin's branch", async () => {
      createBranch('work');
      const pushed = pushElsewhere('work');
      assert.equal((await find()).at, pushed);
      assert.equal(tipOf('work'), pushed);
    });

    it("starts from local commits that origin's branch lacks", async () => {
      const pushed = pushElsewhere('work');
      git(repo, 'fetch', '--quiet', 'origin', 'work:work');
      const local = addCommit(`${repo}/.git`, 'refs/heads/work', pushed, 'Mine');
      assert.equal((await find()).at, local);
    });

    it("fails temporarily while the local branch and origin's branch have diverged", async () => {
      const local = addCommit(`${repo}/.git`, 'refs/heads/work', first, 'Mine');
      pushElsewhere('work');
      await assert.rejects(find(), rejectsAs('transient', /"work" and that of origin have diverged/));
      assert.equal(tipOf('work'), local);
    });

    it('fails temporarily, and creates no branch, if origin does not respond', async () => {
      pushElsewhere('work');
      git(repo, 'remote', 'set-url', 'origin', `${folder}/nowhere.git`);
      await assert.rejects(find(), rejectsAs('transient', /git ls-remote: .*nowhere/s));
      assert.throws(() => tipOf('work'), { code: 'ENOENT' });
    });

    it('starts if origin responds only to the second request', async () => {
      const pushed = pushElsewhere('work');
      git(repo, 'remote', 'set-url', 'origin', `${folder}/share.git`);
      // Origin responds from the second request on, like a network share that is mounted late.
      const bin = `${folder}/bin`;
      mkdirSync(bin);
      const mount = `[ -e '${folder}/asked' ] && ln -sfn '${folder}/origin.git' '${folder}/share.git'; touch '${folder}/asked'`;
      writeFileSync(`${bin}/upload`, `#!/bin/sh\n${mount}\nexec git-upload-pack "$@"\n`, { mode: 0o755 });
      git(repo, 'config', 'remote.origin.uploadpack', `${bin}/upload`);
      assert.equal((await find()).at, pushed);
    });
  });

  describe('a task whose branch name is blocked by another branch', () => {
    for (const [existing, branch] of [
      ['feature', 'feature/auth'],
      ['feature/auth', 'feature'],
      ['a/b/c', 'a'],
      ['a', 'a/b/c'],
    ] as const) {
      it(`fails if it requests the name ${branch} and the branch ${existing} exists locally`, async () => {
        createBranch(existing);
        const message = new RegExp(`"${branch}" cannot be created, because the branch "${existing}" blocks`);
        await assert.rejects(find({ branch }), rejectsAs('permanent', message));
        await assert.rejects(find({ branch, fetch: false }), rejectsAs('permanent', message));
      });

      it(`fails if it will push ${branch} and the branch ${existing} exists on origin`, async () => {
        pushElsewhere(existing);
        const message = new RegExp(`because the branch "${existing}" on origin blocks`);
        await assert.rejects(find({ branch }), rejectsAs('permanent', message));
        assert.equal((await find({ branch, fetch: false })).branch, branch);
      });
    }

    it('can start if only the leftover ref of a branch deleted on origin blocks the name', async () => {
      writeRef(`${repo}/.git`, 'refs/remotes/origin/feature', first);
      const pushed = pushElsewhere('feature/auth');
      assert.equal((await find({ branch: 'feature/auth' })).at, pushed);
    });

    it('fails if an existing name differs only in case and the file system ignores case', async () => {
      createBranch('Feature/Auth');
      assert.equal((await find({ branch: 'feature/auth' })).branch, 'feature/auth');
      git(repo, 'config', 'core.ignoreCase', 'true');
      const message = /because the branch "Feature\/Auth" blocks/;
      for (const branch of ['feature/auth', 'feature', 'feature/auth/more'])
        await assert.rejects(find({ branch }), rejectsAs('permanent', message));
    });

    it('gets a new name if the hub chose its name, and keeps the new name in the next attempt', async () => {
      const wish = { taskId: 'task-1234abcd', branch: 'task/1234abcd-add-login' };
      createBranch('task');
      const start = await find(wish);
      assert.equal(start.branch, 'task-1234abcd-add-login');
      assert.match(start.notes.join(), /Using task-1234abcd-add-login\./);
      const worktree = await open(start);
      const done = addCommit(`${repo}/.git`, `refs/heads/${start.branch}`, first, 'Done');
      git(repo, 'worktree', 'remove', '--force', worktree.folder);
      git(repo, 'branch', '--quiet', '-D', 'task');
      const next = await find(wish);
      assert.deepEqual([next.branch, next.existed, next.at], ['task-1234abcd-add-login', true, done]);
    });

    it('gets another name if the hub chose its name and a branch of origin blocks that name', async () => {
      pushElsewhere('task');
      const wish = { taskId: 'task-1234abcd', branch: 'task/1234abcd' };
      assert.equal((await find(wish)).branch, 'task-1234abcd');
      await assert.rejects(find({ ...wish, taskId: 'task-00000000' }), rejectsAs('permanent', /blocks/));
    });
  });

  describe('a task whose branch is in use', () => {
    it('fails temporarily if the user has checked out the branch', () =>
      assert.rejects(find({ branch: 'main' }), (error: unknown) => {
        assert.ok(error instanceof BranchBusy);
        assert.equal(error.isRunners, false);
        return rejectsAs('busy', /"main" is checked out in .*repo/)(error);
      }));

    it('does not change a branch that the user has checked out', async () => {
      pushElsewhere('main');
      await assert.rejects(find({ branch: 'main' }), BranchBusy);
      assert.deepEqual([tipOf('main'), git(repo, 'status', '--porcelain')], [first, '?? notes.txt']);
    });

    it('fails temporarily while the user rebases or bisects the branch', async () => {
      createBranch('work');
      writeFileSync(`${repo}/.git/HEAD`, 'ref: refs/heads/work\n');
      commit('Mine');
      commit('Mine too');
      pushElsewhere('work');
      assert.throws(() => git(repo, 'rebase', '--quiet', '--force-rebase', '--exec', 'false', 'HEAD~1'));
      assert.throws(() => git(repo, 'symbolic-ref', '--quiet', 'HEAD'));
      await assert.rejects(find(), BranchBusy);
      git(repo, 'rebase', '--abort');
      git(repo, 'bisect', 'start', '--no-checkout');
      git(repo, 'checkout', '--quiet', '--detach');
      await assert.rejects(find(), BranchBusy);
    });

    it('waits for the worktree of another attempt, and then fails temporarily', async () => {
      const start = await find();
      await open(start, 'first');
      await assert.rejects(find(), (error: unknown) => error instanceof BranchBusy && error.isRunners);
    });

    it('starts after the worktree of another attempt is removed', async () => {
      const { folder: first } = await open(await find(), 'first');
      const next = find();
      git(repo, 'worktree', 'remove', '--force', first);
      assert.equal((await next).existed, true);
    });

    it('opens an existing branch for only one of several attempts that start concurrently', async () => {
      createBranch('work');
      const starts = await Promise.all([find(), find(), find()]);
      const opened = await Promise.allSettled(starts.map((start, index) => open(start, `t${index}`)));
      const refused = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      assert.equal(refused.length, 2);
      for (const reason of refused) assert.ok(reason instanceof BranchBusy, String(reason));
    });

    it('opens a new branch for only one of several attempts that start concurrently', async () => {
      const starts = await Promise.all([find(), find()]);
      const opened = await Promise.allSettled(starts.map((start, index) => open(start, `t${index}`)));
      const refused = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      assert.equal(refused.length, 1);
      assert.equal(refused[0] instanceof GitError && refused[0].kind, 'busy');
    });

    for (const lock of [true, false])
      it(`starts on a branch whose ${lock ? 'locked ' : ''}worktree folder is missing, and keeps the git entry`, async () => {
        git(repo, 'worktree', 'add', '--quiet', '-b', 'work', `${folder}/disk/work`);
        if (lock) git(repo, 'worktree', 'lock', `${folder}/disk/work`);
        rmSync(`${folder}/disk`, { recursive: true });
        const pushed = pushElsewhere('work');
        assert.equal((await open(await find())).startedAt, pushed);
        assert.match(git(repo, 'worktree', 'list', '--porcelain'), /disk\/work/);
      });
  });

  it('rejects an invalid branch name with a permanent error', async () => {
    for (const branch of ['-b', 'a..b', 'a b', '../x', 'HEAD', '@{-1}', 'x.lock', 'a/', ''])
      await assert.rejects(find({ branch }), rejectsAs('permanent', /cannot be the name of a branch/));
  });
});
