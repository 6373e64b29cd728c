import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { openRepository } from '../src/git/repository.ts';
import { hostBySsh, projectOf } from '../src/git/start/project.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';

const resolveHost = (host: string) =>
  Promise.resolve(
    new Map([
      ['github-work', 'github.com'],
      ['github-443', 'SSH.github.com'],
      ['work', 'git.example.com'],
    ]).get(host),
  );

describe('projectOf', () => {
  for (const [address, project] of [
    ['git@github.com:acme/app.git', 'acme/app'],
    ['git@github.com:/acme/app.git', 'acme/app'],
    ['github.com:acme/app', 'acme/app'],
    ['org-123@GitHub.com:acme/app.git/', 'acme/app'],
    ['[git@github.com:22]:acme/app.git', 'acme/app'],
    ['https://github.com/acme/app', 'acme/app'],
    ['https://github.com/acme/app.js.git', 'acme/app.js'],
    ['https://x-access-token:secret@github.com/acme/app.git/', 'acme/app'],
    ['https://www.github.com:443/acme/app.git', 'acme/app'],
    ['HTTPS://GitHub.com/acme/app', 'acme/app'],
    ['ssh://git@github.com/acme/app.git', 'acme/app'],
    ['ssh://git@ssh.github.com:443/acme/app.git', 'acme/app'],
    ['git+ssh://git@github.com/acme/app', 'acme/app'],
    ['git@github-work:acme/app.git', 'acme/app'],
    ['ssh://git@github-443/acme/app.git', 'acme/app'],
  ] as const)
    it(`returns ${project} for ${address}`, async () => assert.equal(await projectOf(address, resolveHost), project));

  for (const address of [
    'https://gitlab.com/acme/app.git',
    'git@gitlab.com:acme/app.git',
    'https://github.com.example.com/acme/app',
    'https://notgithub.com/acme/app',
    'https://gitlab.com/github.com/acme/app',
    'https://github.com@gitlab.com/acme/app',
    'https://github.example.com/acme/app',
    'https://ssh.github.com/acme/app',
    'https://github-work/acme/app',
    'git@work:acme/app.git',
    'git@unknown:acme/app.git',
    '/srv/git.d/acme/app.git',
    './git.d:x/acme/app.git',
    '/srv/github.com:acme/app.git',
    '../github.com/acme/app',
    'file:///srv/github.com/acme/app.git',
    'file://github.com/acme/app.git',
    'ext::ssh github.com acme/app',
    'https://github.com/acme',
    'https://github.com/acme/app/tree/main',
    'https://github.com/',
    '',
  ])
    it(`returns no project for the address ${JSON.stringify(address)}`, async () =>
      assert.equal(await projectOf(address, resolveHost), undefined));
});

describe('openRepository', () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
  });
  afterEach(() => removeFolder(folder));

  const project = async () => (await openRepository(repo)).project;

  it("applies git's insteadOf settings before it recognizes the project", async () => {
    git(repo, 'remote', 'add', 'origin', 'gh:acme/app');
    git(repo, 'config', 'url.https://github.com/.insteadOf', 'gh:');
    assert.equal(await project(), 'acme/app');
    git(repo, 'config', 'url.https://mirror.example.com/.insteadOf', 'gh:acme');
    assert.equal(await project(), undefined);
  });

  it("returns no project if origin's push and fetch addresses name different projects", async () => {
    git(repo, 'remote', 'add', 'origin', 'https://github.com/acme/app');
    git(repo, 'remote', 'set-url', '--push', 'origin', 'git@github.com:acme/app.git');
    assert.equal(await project(), 'acme/app');
    git(repo, 'remote', 'set-url', '--push', 'origin', 'git@github.com:fork/app.git');
    assert.equal(await project(), undefined);
  });

  it('returns no project without a remote "origin"', async () => {
    const { hasOrigin, project: found } = await openRepository(repo);
    assert.deepEqual([hasOrigin, found], [false, undefined]);
  });

  it("resolves a host alias of the ssh configuration with the user's ssh command", async () => {
    mkdirSync(`${folder}/my ssh`);
    writeFileSync(`${folder}/my ssh/config`, 'Host github-work\n  HostName github.com\n');
    git(repo, 'config', 'core.sshCommand', `ssh -F '${folder}/my ssh/config'`);
    git(repo, 'remote', 'add', 'origin', 'git@github-work:acme/app.git');
    assert.equal(await project(), 'acme/app');
    git(repo, 'remote', 'set-url', 'origin', 'git@github-home:acme/app.git');
    assert.equal(await project(), undefined);
  });
});

describe('hostBySsh', () => {
  it('passes no host to the shell that contains characters which the shell would interpret', async () => {
    const folder = newFolder();
    const resolve = hostBySsh(`touch '${folder}/ran'; echo hostname github.com; true`, process.env);
    for (const host of ['$(id)', '-oProxyCommand=id', 'a;id', '']) assert.equal(await resolve(host), undefined);
    assert.ok(!existsSync(`${folder}/ran`));
    assert.equal(await resolve('github-work'), 'github.com');
    removeFolder(folder);
  });

  it('returns no host if the ssh command does not exist or fails', async () => {
    assert.equal(await hostBySsh('/nowhere/ssh', process.env)('github-work'), undefined);
    assert.equal(await hostBySsh('false', process.env)('github-work'), undefined);
  });
});
