/** The user's environment variables and settings must not change the runner's repository and commits. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openRepository } from '../src/git/repository.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';
import { openWork } from './support/worktrees.ts';

describe('a runner that a git hook has started', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => removeFolder(folder));

  /** Returns environment variables that make git use another repository, or parts of that repository. */
  const selecting = (other: string): Readonly<Record<string, string>> => ({
    GIT_DIR: `${other}/.git`,
    GIT_WORK_TREE: other,
    GIT_INDEX_FILE: `${other}/.git/index`,
    GIT_COMMON_DIR: `${other}/.git`,
    GIT_OBJECT_DIRECTORY: `${other}/.git/objects`,
    GIT_NAMESPACE: 'other',
    GIT_PREFIX: 'src/',
    GIT_LITERAL_PATHSPECS: '1',
  });

  it('uses the repository of --repo, even if git variables select another repository', async () => {
    const repo = newRepository(`${folder}/repo`);
    const other = newRepository(`${folder}/other`);
    const state = () => [
      readFileSync(`${other}/.git/index`).toString('hex'),
      git(other, 'for-each-ref'),
      git(other, 'count-objects'),
    ];
    const before = state();
    const seen = `${folder}/seen.json`;
    installStandIn(
      `${folder}/bin`,
      `fs.writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env));
      fs.writeFileSync('work.txt', 'x'); result();`,
    );
    const variables = selecting(other);
    Object.assign(process.env, variables, { GIT_AUTHOR_NAME: 'Grace', GIT_SSH_COMMAND: 'ssh -i key' });
    try {
      const hub = new LocalHub({ ...taskOf('t1'), config: { acceptance: 'test -z "$GIT_DIR" && git status' } });
      const shutdown = new AbortController().signal;
      assert.equal(await startRunner({ folder, repo, hub, args: ['--once'], shutdown, output: [] }), true);
    } finally {
      for (const name of [...Object.keys(variables), 'GIT_AUTHOR_NAME', 'GIT_SSH_COMMAND']) delete process.env[name];
    }
    assert.deepEqual(state(), before, 'the other repository is unchanged');
    assert.equal(git(repo, 'show', 'work/t1:work.txt'), 'x');
    assert.equal(git(repo, 'log', '-1', '--format=%an', 'work/t1'), 'Grace', 'the author of the commit is the user');
    const environment: unknown = JSON.parse(readFileSync(seen, 'utf8'));
    assert.ok(typeof environment === 'object' && environment !== null);
    for (const name of Object.keys(variables)) assert.ok(!(name in environment), name);
    assert.equal(Reflect.get(environment, 'GIT_SSH_COMMAND'), 'ssh -i key');
  });
});

describe("the message of the runner's commit", () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => removeFolder(folder));

  const message = '#12 Fix the build\n\n# not a comment\n  indented  \n\nMuster-Task: t1\n';

  for (const [setting, value] of [
    ['commit.cleanup', 'strip'],
    ['commit.cleanup', 'scissors'],
    ['commit.cleanup', 'default'],
    ['commit.template', '/dev/null'],
    ['commit.verbose', 'true'],
    ['commit.gpgsign', 'true'],
    ['core.commentChar', 'M'],
    ['i18n.commitEncoding', 'ISO-8859-1'],
    ['i18n.logOutputEncoding', 'UTF-16'],
    ['log.showSignature', 'true'],
    ['format.pretty', 'oneline'],
    ['color.ui', 'always'],
    ['diff.external', 'false'],
    ['diff.mnemonicPrefix', 'true'],
    ['core.quotePath', 'true'],
  ] as const)
    it(`is unchanged in the repository if the git setting ${setting} is ${value}`, async () => {
      const repo = newRepository(`${folder}/repo`);
      git(repo, 'config', 'gpg.program', 'false');
      git(repo, 'config', setting, value);
      const { worktree, settle } = await openWork(await openRepository(repo), folder, 'work');
      writeFileSync(`${worktree.folder}/ä.txt`, 'x');
      const { commit, problem } = await settle(message);
      assert.equal(problem, undefined);
      assert.ok(commit !== undefined);
      const object = git(repo, 'cat-file', 'commit', commit);
      assert.equal(object.slice(object.indexOf('\n\n') + 2), message.trimEnd());
      assert.doesNotMatch(object, /^(?:encoding|gpgsig)/m);
      assert.ok(existsSync(worktree.folder));
    });
});
