/** While an attempt runs, the hub learns which files its branch changes. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { changedFiles } from '../src/git/changes.ts';
import { openRepository } from '../src/git/repository.ts';
import type { Beat, Standing } from '../src/hub/hub.ts';
import { createRedactor } from '../src/redaction.ts';
import { watchFiles } from '../src/task/fileWatch.ts';
import { filesJson } from '../src/task/report.ts';
import { commitOn } from './support/commands.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';
import { openWork } from './support/worktrees.ts';

describe('the files that an attempt changes', () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
  });
  afterEach(() => removeFolder(folder));

  it('include earlier attempts, commits and uncommitted changes, but no ignored files', async () => {
    const base = git(repo, 'rev-parse', 'main');
    commitOn(repo, 'work', { 'earlier.txt': 'x', 'undone.txt': 'x', '.gitignore': 'build/\n' });
    const { worktree } = await openWork(await openRepository(repo), folder, 'work');
    const at = worktree.folder;
    writeFileSync(`${at}/committed ä.txt`, 'x');
    git(at, 'add', '.');
    git(at, 'commit', '--quiet', '-m', 'One');
    git(at, 'rm', '--quiet', 'undone.txt');
    mkdirSync(`${at}/build`);
    writeFileSync(`${at}/build/ignored.txt`, 'x');
    writeFileSync(`${at}/new.txt`, 'x');
    writeFileSync(`${at}/earlier.txt`, 'y');
    writeFileSync(`${at}/README.md`, '# Changed\n');
    git(at, 'update-index', '--assume-unchanged', 'README.md');
    const index = () => git(at, 'ls-files', '--stage', '-v');
    const before = index();
    const files = { base, baseline: `${folder}/record/work.before`, index: `${folder}/record/scratch` };
    const expected = ['.gitignore', 'README.md', 'committed ä.txt', 'earlier.txt', 'new.txt'];
    assert.deepEqual(await changedFiles(worktree, files), expected);
    assert.equal(index(), before, "the agent's own index is unchanged");
  });

  it('are sent each time that they have changed, also after git has failed', async () => {
    const lists = [[], ['a'], ['a'], undefined, ['a'], ['a', 'b'], []];
    const sent: (readonly string[])[] = [];
    let checks = 0;
    const list = async (): Promise<readonly string[]> => {
      const files = lists[checks];
      checks += 1;
      if (files === undefined && checks <= lists.length) throw new Error('git failed');
      return files ?? [];
    };
    const watch = watchFiles({ list, send: (files) => void sent.push(files), everyMs: 1 });
    await until(() => checks > lists.length);
    await watch.stop();
    assert.deepEqual(sent, [['a'], ['a', 'b'], []]);
    const last = checks;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(checks, last, 'no check runs after the stop');
  });

  it('are at most 1,000 texts, without secrets and hidden characters', () => {
    const paths = ['hunter2hunter2/a.txt', 'b\u202ec.txt', ...Array.from({ length: 2000 }, (_, n) => `src/${n}.ts`)];
    const files = filesJson(paths, createRedactor(['hunter2hunter2'], {}));
    assert.deepEqual([files.length, files[0], files[1]], [1000, '[redacted]/a.txt', 'bc.txt']);
  });

  it('are reported to the hub while the coding agent works', async () => {
    commitOn(repo, 'work/t1', { 'earlier.txt': 'x' });
    installStandIn(`${folder}/bin`, 'listen(); listen(); result();');
    const reported: (readonly string[])[] = [];
    class FilesHub extends LocalHub {
      override async heartbeat(_task: string, _epoch: number, { files, waitMs }: Beat): Promise<Standing> {
        if (files !== undefined) reported.push(files);
        const message = { id: 'm1', from: 'ada', text: 'Finish.', at: '' };
        if (waitMs !== undefined) await until(() => reported.length > 0);
        return { messages: waitMs === undefined ? [] : [message] };
      }
    }
    const hub = new FilesHub({ ...taskOf('t1'), epoch: 2, attempt: 2 });
    const shutdown = new AbortController().signal;
    await startRunner({ folder, repo, hub, args: ['--once'], shutdown, output: [] });
    assert.deepEqual(reported, [['earlier.txt']]);
  });
});
