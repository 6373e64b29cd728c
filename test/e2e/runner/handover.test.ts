/** Branches that runners push to "origin", a bare repository, and their pull requests in the local GitHub. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { git, newRepository } from '../../../runner/test/support/folders.ts';
import { FOREVER, installStandIn } from '../../../runner/test/support/standIn.ts';
import { succeed } from '../support/calls.ts';
import { connect, isRecord } from '../support/clients.ts';
import { runConcurrently } from '../support/concurrently.ts';
import { type RunnerFixture, withRunnerFixture } from './fixture.ts';

const AT = { owner: 'sartor-ai', repo: 'claude-network' };

/** Number of concurrent tests. Each mostly waits for a process or for GitHub. */
const AT_ONCE = 3;

describe('a runner that pushes branches', () => {
  runConcurrently(AT_ONCE, {
    'opens a pull request if the task requests one': withOrigin(async (fixture, origin) => {
      const branch = `task/${randomUUID().slice(0, 8)}`;
      const github = await connect('client 2026-07-28', fixture.url, fixture.agent.token);
      try {
        // The local GitHub does not read "origin", so the branch must also be created there.
        await succeed(github, 'github_createBranch', { ...AT, branch });
        const files = [{ path: `src/${branch}.ts`, content: '// new\n' }];
        await succeed(github, 'github_commitFiles', { ...AT, branch, message: 'Work', files });
        installStandIn(fixture.bin, "fs.writeFileSync('work.txt', 'x'); result('It is done.');");
        const { taskId } = await fixture.createTask({ branch, config: { pullRequest: { draft: true } } });
        const runner = fixture.startRunner(['--once', '--project', `${AT.owner}/${AT.repo}`]);
        assert.equal(await runner.ended, 0, runner.output());
        assert.equal(git(origin, 'show', `${branch}:work.txt`), 'x');
        const { task, result = {} } = await fixture.report(taskId);
        assert.equal(task.status, 'completed');
        assert.ok(isRecord(result['pullRequest']), JSON.stringify(result));
        const again = { ...AT, title: 'Again', head: branch, base: 'main' };
        const { created, number, title, draft } = await succeed(github, 'github_createPR', again);
        assert.deepEqual(
          { created, number, title, draft },
          {
            created: false,
            number: result['pullRequest']['number'],
            title: 'Add authentication to the app',
            draft: true,
          },
        );
      } finally {
        await github.close();
      }
    }),
    'continues the branch that a runner elsewhere pushed before stopping': withOrigin(async (fixture, origin) => {
      installStandIn(fixture.bin, `fs.writeFileSync('first.txt', '1'); said('Half done.'); ${FOREVER}`);
      const { taskId, branch } = await fixture.createTask();
      const first = fixture.startRunner(['--push']);
      await fixture.untilLogged(taskId, 'Half done.');
      first.signal('SIGTERM');
      assert.equal(await first.ended, 0, first.output());
      assert.equal(git(origin, 'show', `${branch}:first.txt`), '1');

      const elsewhere = newRepository(`${fixture.folder}/elsewhere`);
      git(elsewhere, 'remote', 'add', 'origin', origin);
      installStandIn(fixture.bin, "fs.writeFileSync('second.txt', fs.readdirSync('.').join(' ')); result();");
      const second = fixture.startRunner(['--once', '--push'], { repo: elsewhere });
      assert.equal(await second.ended, 0, second.output());
      assert.match(git(origin, 'show', `${branch}:second.txt`), /first\.txt/);
      assert.equal((await fixture.report(taskId)).task.status, 'completed');
    }),
  });
});

/** Returns a test function that runs the test with a new fixture and a bare repository as "origin". */
function withOrigin(test: (fixture: RunnerFixture, origin: string) => Promise<void>): () => Promise<void> {
  return withRunnerFixture('handover', async (fixture) => {
    const origin = `${fixture.folder}/origin.git`;
    git(fixture.folder, 'clone', '--quiet', '--bare', fixture.repo, origin);
    git(fixture.repo, 'remote', 'add', 'origin', origin);
    await test(fixture, origin);
  });
}
