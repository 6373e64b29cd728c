import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { changesSince } from '../src/git/changes.ts';
import { openRepository, type Repository } from '../src/git/repository.ts';
import { removeWorktree } from '../src/git/worktree.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { type Opened, openWork } from './support/worktrees.ts';

describe("a task's worktree", () => {
  let folder: string;
  let repo: string;
  let repository: Repository;

  beforeEach(async () => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    repository = await openRepository(repo);
  });
  afterEach(() => {
    assert.equal(git(repo, 'rev-parse', '--abbrev-ref', 'HEAD'), 'main', "the user's branch is checked out");
    assert.equal(git(repo, 'status', '--porcelain'), '?? notes.txt', "the user's checkout is as it was");
    removeFolder(folder);
  });

  const open = (branch: string, fetch = false): Promise<Opened> => openWork(repository, folder, branch, fetch);

  it("is on the task's branch, which starts from the base", async () => {
    const { worktree, settle } = await open('feature/auth');
    assert.equal(worktree.startedAt, git(repo, 'rev-parse', 'main'));
    assert.equal(git(worktree.folder, 'symbolic-ref', 'HEAD'), 'refs/heads/feature/auth');
    assert.equal((await settle()).problem, undefined);
    assert.equal(await removeWorktree(worktree), undefined);
    assert.ok(!existsSync(worktree.folder));
    assert.deepEqual(readdirSync(`${repo}/.git`).includes('worktrees') && readdirSync(`${repo}/.git/worktrees`), []);
    assert.equal((await open('feature/auth')).worktree.startedAt, worktree.startedAt);
  });

  it('has its remaining files committed at the end, and the changes are reported', async () => {
    const { worktree, settle } = await open('work');
    writeFileSync(`${worktree.folder}/new file.ts`, 'one\ntwo\n');
    writeFileSync(`${worktree.folder}/picture.png`, Buffer.from([0x89, 0, 1, 2, 0xff]));
    rmSync(`${worktree.folder}/README.md`);
    for (const setting of ['color.diff=always', 'diff.noprefix=true', 'diff.external=false'])
      git(repo, 'config', ...setting.split('='));
    const { commit: sha } = await settle('Do it\n\nMuster-Task: t1\n');
    assert.equal((await settle('Nothing')).commit, undefined);
    const {
      commits,
      diffstat,
      files,
      diff = '',
      head,
    } = await changesSince(repository.git, worktree.startedAt, 'work');
    assert.equal(head, sha);
    assert.deepEqual(commits, [{ sha, subject: 'Do it' }]);
    assert.deepEqual(diffstat, { files: 3, insertions: 2, deletions: 1 });
    assert.deepEqual(files, [
      { path: 'README.md', insertions: 0, deletions: 1 },
      { path: 'new file.ts', insertions: 2, deletions: 0 },
      { path: 'picture.png', insertions: 0, deletions: 0 },
    ]);
    const parts = diff.split(/^(?=diff --git )/m);
    assert.deepEqual(
      parts.map((part) => part.split('\n', 1)[0]),
      ['README.md', 'new file.ts', 'picture.png'].map((name) => `diff --git a/${name} b/${name}`),
    );
    assert.match(String(parts[1]), /^@@ -0,0 \+1,2 @@\n\+one\n\+two$/m);
    assert.match(String(parts[2]), /^Binary files \/dev\/null and b\/picture\.png differ$/m);
  });

  it("has its commits added to the task's branch if the agent made them on a new branch", async () => {
    const { worktree, settle } = await open('work');
    git(worktree.folder, 'checkout', '--quiet', '-b', 'elsewhere');
    writeFileSync(`${worktree.folder}/a.ts`, 'committed\n');
    git(worktree.folder, 'add', '.');
    git(worktree.folder, 'commit', '--quiet', '-m', 'Elsewhere');
    const elsewhere = git(worktree.folder, 'rev-parse', 'HEAD');
    writeFileSync(`${worktree.folder}/b.ts`, 'left\n');
    await settle('Rest');
    assert.equal(git(repo, 'rev-parse', 'elsewhere'), elsewhere);
    assert.deepEqual(git(repo, 'log', '--format=%s', 'work').split('\n'), ['Rest', 'Elsewhere', 'Begin']);
  });

  it("adds only uncommitted files to the task's branch if the agent checked out other commits", async () => {
    const { worktree, settle } = await open('work');
    writeFileSync(`${worktree.folder}/done.ts`, 'done\n');
    await settle('Done');
    git(worktree.folder, 'checkout', '--quiet', '--detach', 'main');
    assert.equal((await settle('Nothing')).commit, undefined);
    assert.ok(existsSync(`${worktree.folder}/done.ts`), "the task's earlier work is missing");
    git(worktree.folder, 'checkout', '--quiet', '--detach', 'main');
    writeFileSync(`${worktree.folder}/left.ts`, 'left\n');
    await settle('Left');
    assert.deepEqual(git(repo, 'ls-tree', '--name-only', 'work').split('\n'), ['README.md', 'done.ts', 'left.ts']);
  });

  it('has conflicting changes stored under a separate ref, which is reported', async () => {
    const { worktree, settle } = await open('work');
    writeFileSync(`${worktree.folder}/README.md`, '# Ours\n');
    await settle('Ours');
    git(worktree.folder, 'checkout', '--quiet', '--detach', 'main');
    writeFileSync(`${worktree.folder}/README.md`, '# Theirs\n');
    const { notes, problem, stays } = await settle('Theirs');
    assert.deepEqual([problem, stays], [undefined, undefined]);
    const kept = /refs\/muster\/kept\/\w+/.exec(notes.join('\n'))?.[0] ?? '';
    assert.equal(git(repo, 'show', `${kept}:README.md`), '# Theirs');
    assert.equal(git(repo, 'show', 'work:README.md'), '# Ours');
  });

  it('cannot be opened on a branch that the user has checked out', () =>
    assert.rejects(open('main'), /"main" is checked out in .*not changed/));

  it('cannot be opened for an invalid branch name', async () => {
    for (const branch of ['-b', 'a..b', 'a b', '../x', 'HEAD'])
      await assert.rejects(open(branch), /cannot be the name of a branch/, branch);
  });

  it("contains the commits that another machine has pushed to the task's branch", async () => {
    git(folder, 'clone', '--quiet', '--bare', repo, `${folder}/origin.git`);
    git(repo, 'remote', 'add', 'origin', `${folder}/origin.git`);
    const other = newRepository(`${folder}/other`);
    git(other, 'fetch', '--quiet', `${folder}/origin.git`, 'main');
    git(other, 'checkout', '--quiet', '-b', 'work', 'FETCH_HEAD');
    git(other, 'commit', '--quiet', '--allow-empty', '-m', 'From elsewhere');
    git(other, 'push', '--quiet', `${folder}/origin.git`, 'work');
    const { worktree } = await open('work', true);
    assert.equal(git(worktree.folder, 'log', '-1', '--format=%s'), 'From elsewhere');
  });
});
