/** Branches and pull requests that leave the machine, with the local GitHub; "origin" is a bare repository. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { git, newRepository } from '../../../runner/test/support/folders.ts';
import { FOREVER, installStandIn } from '../../../runner/test/support/standIn.ts';
import { someAtOnce } from '../support/atOnce.ts';
import { succeed } from '../support/calls.ts';
import { connect, isRecord } from '../support/clients.ts';
import { onStage, type Stage } from './stage.ts';

const AT = { owner: 'sartor-ai', repo: 'claude-network' };

/** The tests mostly wait for a process or for GitHub. */
const AT_ONCE = 3;

describe('the branch of a coding task', () => {
  someAtOnce(AT_ONCE, {
    'becomes a pull request if the task requests one': withOrigin(async (stage, origin) => {
      const branch = `task/${randomUUID().slice(0, 8)}`;
      const github = await connect('client 2026-07-28', stage.url, stage.agent.token);
      try {
        // The local GitHub has separate storage: commits pushed to "origin" must be added to it.
        await succeed(github, 'github_createBranch', { ...AT, branch });
        const files = [{ path: `src/${branch}.ts`, content: '// new\n' }];
        await succeed(github, 'github_commitFiles', { ...AT, branch, message: 'Work', files });
        installStandIn(stage.bin, "fs.writeFileSync('work.txt', 'x'); result('It is done.');");
        const { taskId } = await stage.createTask({ branch, config: { pullRequest: { draft: true } } });
        const runner = stage.startRunner(['--once', '--project', `${AT.owner}/${AT.repo}`]);
        assert.equal(await runner.ended, 0, runner.said());
        assert.equal(git(origin, 'show', `${branch}:work.txt`), 'x');
        const { task, result = {} } = await stage.report(taskId);
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
    'is continued on another machine after the first runner stops': withOrigin(async (stage, origin) => {
      installStandIn(stage.bin, `fs.writeFileSync('first.txt', '1'); said('Half done.'); ${FOREVER}`);
      const { taskId, branch } = await stage.createTask();
      const first = stage.startRunner(['--push']);
      await stage.untilLogged(taskId, 'Half done.');
      first.signal('SIGTERM');
      assert.equal(await first.ended, 0, first.said());
      assert.equal(git(origin, 'show', `${branch}:first.txt`), '1');

      const elsewhere = newRepository(`${stage.folder}/elsewhere`);
      git(elsewhere, 'remote', 'add', 'origin', origin);
      installStandIn(stage.bin, "fs.writeFileSync('second.txt', fs.readdirSync('.').join(' ')); result();");
      const second = stage.startRunner(['--once', '--push'], { repo: elsewhere });
      assert.equal(await second.ended, 0, second.said());
      assert.match(git(origin, 'show', `${branch}:second.txt`), /first\.txt/);
      assert.equal((await stage.report(taskId)).task.status, 'completed');
    }),
    'stays local if origin does not respond, and does not start': withOrigin(async (stage) => {
      const away = ['remote', 'set-url', 'origin', `${stage.folder}/nowhere.git`];
      installStandIn(
        stage.bin,
        `fs.writeFileSync('work.txt', 'x');
          require('node:child_process').execFileSync('git', ${JSON.stringify(away)});
          result();`,
      );
      const { taskId, branch } = await stage.createTask();
      const runner = stage.startRunner(['--once', '--push']);
      assert.equal(await runner.ended, 1, runner.said());
      assert.equal(git(stage.repo, 'show', `${branch}:work.txt`), 'x');
      const { task, attempts } = await stage.report(taskId);
      assert.equal(task.status, 'pending');
      assert.equal(attempts[0]?.failure.class, 'crashed');
      installStandIn(
        stage.bin,
        `fs.writeFileSync(${JSON.stringify(`${stage.folder}/started`)}, ''); result();`,
      );
      const next = stage.startRunner(['--once', '--push']);
      assert.equal(await next.ended, 1, next.said());
      assert.equal((await stage.report(taskId)).attempts[1]?.failure.class, 'crashed');
      assert.ok(!existsSync(`${stage.folder}/started`));
    }),
  });
});

/** A test with its own stage and its "origin". */
function withOrigin(test: (stage: Stage, origin: string) => Promise<void>): () => Promise<void> {
  return onStage('handover', async (stage) => {
    const origin = `${stage.folder}/origin.git`;
    git(stage.folder, 'clone', '--quiet', '--bare', stage.repo, origin);
    git(stage.repo, 'remote', 'add', 'origin', origin);
    await test(stage, origin);
  });
}
