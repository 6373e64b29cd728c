/** A leader cancels, retries or releases a coding task while a real runner works on the task. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DEAF, FOREVER, installStandIn, withChildren } from '../../../runner/test/support/standIn.ts';
import { runConcurrently } from '../support/concurrently.ts';
import { eventually } from '../support/waiting.ts';
import { isRunning, TIMEOUT_MS, withRunnerFixture } from './fixture.ts';

describe('a runner', () => {
  runConcurrently(1, {
    'ends every process of its agent if the task is cancelled, even if a process ignores SIGTERM': withRunnerFixture(
      'levers',
      async (fixture) => {
        const pidFile = `${fixture.folder}/pids`;
        installStandIn(fixture.bin, `${DEAF} ${withChildren(pidFile, "said('At work.');")} ${FOREVER}`);
        const { taskId } = await fixture.createTask();
        const runner = fixture.startRunner([]);
        await fixture.untilLogged(taskId, 'At work.');
        const pids = readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
        assert.equal(pids.length, 5);
        await fixture.lead('cancel_task', { task_id: taskId, reason: 'no longer wanted' });
        await eventually('all processes of the agent have ended', async () => !pids.some(isRunning) || undefined);
        await fixture.untilSaid(runner, /cancelled \(/);
        assert.equal((await fixture.report(taskId)).task.state, 'cancelled');

        // After the retry, the runner claims the task again and does it.
        installStandIn(fixture.bin, "fs.writeFileSync('work.txt', 'x'); result('It is done.');");
        await fixture.lead('retry_task', { task_id: taskId });
        await fixture.untilState(taskId, 'done');
        const { attempts } = await fixture.report(taskId);
        const classes = attempts.map(({ failure }) => failure.class);
        assert.deepEqual(classes, ['cancelled']);
        runner.signal('SIGTERM');
        assert.equal(await runner.ended, 0, runner.output());
      },
    ),
    'starts a released task again, after ending its first agent': withRunnerFixture('levers', async (fixture) => {
      const again = `${fixture.folder}/again`;
      const pidFile = `${fixture.folder}/pids`;
      installStandIn(
        fixture.bin,
        `if (fs.existsSync(${JSON.stringify(again)})) {
          fs.writeFileSync('second.txt', 'x'); result('Finished.'); process.exit(0);
        }
        fs.writeFileSync(${JSON.stringify(again)}, '');
        ${withChildren(pidFile, "said('At work.');")} ${FOREVER}`,
      );
      const { taskId } = await fixture.createTask();
      const runner = fixture.startRunner([]);
      await fixture.untilLogged(taskId, 'At work.');
      const pids = readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
      await fixture.lead('release_task', { task_id: taskId });
      await fixture.untilState(taskId, 'done');
      await eventually('the first agent has ended', async () => !pids.some(isRunning) || undefined, TIMEOUT_MS);
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.output());
    }),
  });
});
