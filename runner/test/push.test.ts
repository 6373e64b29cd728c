/** The runner must push large files of Git LFS itself, because git normally pushes them in a hook. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { gitIn } from '../src/git/git.ts';
import { pushBranch } from '../src/git/push.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';

describe('pushBranch', () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    git(folder, 'clone', '--quiet', '--bare', repo, `${folder}/origin.git`);
    git(repo, 'remote', 'add', 'origin', `${folder}/origin.git`);
    git(repo, 'branch', 'work');
    mkdirSync(`${folder}/bin`);
    // The replacement for Git LFS records its arguments. If the branch was already pushed, it also records "late".
    const looks = `git -C '${folder}/origin.git' show-ref --quiet refs/heads/work && echo late`;
    const program = `#!/bin/sh\necho "$@" >> '${folder}/asked'\n(${looks}) >> '${folder}/asked'\nexit 0\n`;
    writeFileSync(`${folder}/bin/git-lfs`, program, { mode: 0o755 });
    writeFileSync(`${folder}/asked`, '');
  });
  afterEach(() => removeFolder(folder));

  const push = () =>
    pushBranch(
      gitIn(repo, { env: { ...process.env, PATH: `${folder}/bin${delimiter}${process.env['PATH']}` } }),
      'work',
    );
  const asked = () => readFileSync(`${folder}/asked`, 'utf8');

  function trackLargeFiles(): void {
    mkdirSync(`${repo}/assets`);
    writeFileSync(`${repo}/assets/.gitattributes`, '*.psd filter=lfs diff=lfs merge=lfs -text\n');
    git(repo, 'checkout', '--quiet', 'work');
    git(repo, 'add', 'assets');
    git(repo, 'commit', '--quiet', '-m', 'Track large files');
  }

  it('pushes large files of Git LFS before it pushes the branch', async () => {
    git(repo, 'config', 'filter.lfs.clean', 'cat');
    trackLargeFiles();
    await push();
    assert.equal(asked(), 'push origin refs/heads/work\n');
    assert.equal(git(`${folder}/origin.git`, 'log', '-1', '--format=%s', 'work'), 'Track large files');
  });

  it('does not run Git LFS if LFS stores no file of the branch or is not set up', async () => {
    git(repo, 'config', 'filter.lfs.clean', 'cat');
    await push();
    git(repo, 'config', '--unset', 'filter.lfs.clean');
    trackLargeFiles();
    await push();
    assert.equal(asked(), '');
  });
});
