/** A leader's actions on a coding task while a real runner works on it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DEAF, FOREVER, installStandIn, withChildren } from '../../../runner/test/support/standIn.ts';
import { someAtOnce } from '../support/atOnce.ts';
import { eventually } from '../support/waiting.ts';
import { isRunning, onStage, PATIENCE_MS } from './stage.ts';

describe('a coding task when its leader acts on it', () => {
  someAtOnce(1, {
    'leaves no agent process after it is cancelled, even if it ignores SIGTERM': onStage(
      'levers',
      async (stage) => {
        const pidFile = `${stage.folder}/pids`;
        installStandIn(stage.bin, `${DEAF} ${withChildren(pidFile, "said('At work.');")} ${FOREVER}`);
        const { taskId } = await stage.createTask();
        const runner = stage.startRunner([]);
        await stage.untilLogged(taskId, 'At work.');
        const pids = readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
        assert.equal(pids.length, 5);
        await stage.lead('cancel_task', { task_id: taskId, reason: 'no longer wanted' });
        await eventually('all have ended', async () => !pids.some(isRunning) || undefined);
        await stage.untilSaid(runner, /cancelled \(/);
        assert.equal((await stage.report(taskId)).task.state, 'cancelled');

        // After a retry, the same runner does it, because it continues to claim tasks.
        installStandIn(stage.bin, "fs.writeFileSync('work.txt', 'x'); result('It is done.');");
        await stage.lead('retry_task', { task_id: taskId });
        await stage.untilState(taskId, 'done');
        const { attempts } = await stage.report(taskId);
        assert.deepEqual(
          attempts.map(({ failure }) => failure.class),
          ['cancelled'],
        );
        runner.signal('SIGTERM');
        assert.equal(await runner.ended, 0, runner.said());
      },
    ),
    'is attempted again after a release, and the first agent ends': onStage('levers', async (stage) => {
      const again = `${stage.folder}/again`;
      const pidFile = `${stage.folder}/pids`;
      installStandIn(
        stage.bin,
        `if (fs.existsSync(${JSON.stringify(again)})) {
          fs.writeFileSync('second.txt', 'x'); result('Finished.'); process.exit(0);
        }
        fs.writeFileSync(${JSON.stringify(again)}, '');
        ${withChildren(pidFile, "said('At work.');")} ${FOREVER}`,
      );
      const { taskId } = await stage.createTask();
      const runner = stage.startRunner([]);
      await stage.untilLogged(taskId, 'At work.');
      const pids = readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
      await stage.lead('release_task', { task_id: taskId });
      await stage.untilState(taskId, 'done');
      await eventually('the first has ended', async () => !pids.some(isRunning) || undefined, PATIENCE_MS);
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.said());
    }),
  });
});
