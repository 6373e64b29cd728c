/** Failures between a runner, its coding agent and the hub, with scripted stand-ins for the agent. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { addCallers, type Caller } from '../../../bench/seed.ts';
import { git } from '../../../runner/test/support/folders.ts';
import { DEAF, FOREVER, installStandIn, withChildren } from '../../../runner/test/support/standIn.ts';
import type { TestAgent } from '../support/agents.ts';
import { someAtOnce } from '../support/atOnce.ts';
import { succeed } from '../support/calls.ts';
import { isRecord } from '../support/clients.ts';
import { Deployment } from '../support/delivery/deployment.ts';
import { eventually } from '../support/waiting.ts';
import { openNetwork } from './network.ts';
import { closing, isRunning, onStage, PATIENCE_MS, Stage } from './stage.ts';

/** The tests mostly wait: for a lease, for a process to end, for a response. */
const AT_ONCE = 3;

/** The shortest lease that a runner accepts. */
const LEASE_SECONDS = 15;

describe('a coding task with a failure', () => {
  /** Leaves a file and hangs at the first attempt; finishes at the second. */
  function installForgetful(stage: Stage): void {
    const again = `${stage.folder}/again`;
    installStandIn(
      stage.bin,
      `if (fs.existsSync(${JSON.stringify(again)})) {
        fs.writeFileSync('second.txt', fs.readdirSync('.').join(' '));
        said('Going on.'); result('Finished.'); process.exit(0);
      }
      fs.writeFileSync(${JSON.stringify(again)}, '');
      fs.writeFileSync('first.txt', 'first');
      said('Half done.');
      ${FOREVER}`,
    );
  }

  async function assertFinished(stage: Stage, taskId: string, branch: string): Promise<void> {
    const { task, attempts, result = {} } = await stage.report(taskId);
    assert.deepEqual([task.status, task.attempt], ['completed', 2]);
    assert.deepEqual(
      attempts.map(({ failure }) => failure.class),
      ['runner_lost'],
    );
    assert.equal(result['summary'], 'Finished.');
    assert.match(
      git(stage.repo, 'show', `${branch}:second.txt`),
      /first\.txt/,
      'the second attempt sees the file of the first',
    );
    assert.ok(Array.isArray(result['files']) && result['files'].length === 2);
  }

  someAtOnce(AT_ONCE, {
    'is stopped with all its processes after an external end': onStage('trouble', async (stage) => {
      const pidFile = `${stage.folder}/pids`;
      installStandIn(stage.bin, `${DEAF} ${withChildren(pidFile, "said('At work.');")} ${FOREVER}`);
      const { taskId } = await stage.createTask();
      const runner = stage.startRunner(['--lease', `${LEASE_SECONDS}`]);
      await stage.untilLogged(taskId, 'At work.');
      await succeed(stage.client, 'end_task', { taskId, status: 'failed' });
      await stage.untilSaid(runner, /cancelled \(/);
      const pids = readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
      assert.equal(pids.length, 5);
      assert.deepEqual(pids.filter(isRunning), []);
      assert.equal((await stage.report(taskId)).task.state, 'cancelled');
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.said());
    }),
    'leaves no agent process when its runner is killed': onStage('trouble', async (stage) => {
      const pidFile = `${stage.folder}/pids`;
      installStandIn(stage.bin, `${DEAF} ${withChildren(pidFile, "said('At work.');")} ${FOREVER}`);
      const { taskId } = await stage.createTask();
      const runner = stage.startRunner([]);
      await stage.untilLogged(taskId, 'At work.');
      runner.signal('SIGKILL');
      await runner.ended;
      const pids = readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
      await eventually('all have ended', async () => !pids.some(isRunning) || undefined, PATIENCE_MS);
    }),
    'is finished by another runner when the lease of a killed one expires': async () => {
      const deployment = await Deployment.create({ hasBroker: false, pushServiceUrl: '' });
      try {
        const [[leader], [one, other], hubUrl, sweepUrl] = await Promise.all([
          addCallers(deployment, 'leader'),
          addCallers(deployment, 'worker', 2),
          deployment.urlOf('mcp'),
          deployment.urlOf('sweep'),
        ]);
        assert.ok(leader && one && other);
        await closing(await Stage.at(hubUrl, testAgent(one), testAgent(leader)), async (stage) => {
          installForgetful(stage);
          const { taskId, branch } = await stage.createTask();
          const killed = stage.startRunner(['--lease', `${LEASE_SECONDS}`]);
          await stage.untilLogged(taskId, 'Half done.');
          killed.signal('SIGKILL');
          await killed.ended;
          const next = stage.startRunner(['--once'], { agent: testAgent(other) });
          await stage.untilSaid(next, /Waiting/);
          deployment.moveTime((LEASE_SECONDS + 1) * 1000);
          assert.equal((await fetch(sweepUrl, { method: 'POST' })).status, 200);
          assert.equal(await next.ended, 0, next.said());
          await assertFinished(stage, taskId, branch);
        });
      } finally {
        await deployment.end();
      }
    },
    'is finished by a killed runner after a restart': onStage('trouble', async (stage) => {
      installForgetful(stage);
      const { taskId, branch } = await stage.createTask();
      const killed = stage.startRunner([]);
      await stage.untilLogged(taskId, 'Half done.');
      killed.signal('SIGKILL');
      await killed.ended;
      const next = stage.startRunner(['--once']);
      assert.equal(await next.ended, 0, next.said());
      await assertFinished(stage, taskId, branch);
    }),
    'is released immediately when its runner gets SIGTERM': onStage('trouble', async (stage) => {
      installForgetful(stage);
      const { taskId, branch } = await stage.createTask();
      const runner = stage.startRunner([]);
      await stage.untilLogged(taskId, 'Half done.');
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.said());
      const next = stage.startRunner(['--task', taskId]);
      assert.equal(await next.ended, 0, next.said());
      await assertFinished(stage, taskId, branch);
    }),
    'loses no log line and no result during a network outage': onStage('trouble', async (stage) => {
      const go = `${stage.folder}/go`;
      installStandIn(
        stage.bin,
        `said('Connected.');
      const timer = setInterval(() => {
        if (!fs.existsSync(${JSON.stringify(go)})) return;
        clearInterval(timer);
        for (let n = 0; n < 700; n++) console.log('line ' + n);
        fs.writeFileSync('work.txt', 'done');
        result('Done without a network.');
      }, 20);`,
      );
      const network = await openNetwork(stage.url);
      try {
        const { taskId, branch } = await stage.createTask();
        const runner = stage.startRunner(['--once'], { url: network.url });
        await stage.untilLogged(taskId, 'Connected.');
        network.cut();
        writeFileSync(go, '');
        await eventually(
          'the work is committed',
          async () => {
            const log = git(stage.repo, 'log', '--format=%s', branch);
            return log.startsWith('Add authentication') || undefined;
          },
          PATIENCE_MS,
        );
        await stage.untilSaid(runner, /hub does not respond/);
        assert.notEqual((await stage.report(taskId)).task.status, 'completed');
        network.restore();
        assert.equal(await runner.ended, 0, runner.said());
        const lines = (await stage.logs(taskId))
          .map(({ message }) => message)
          .filter((message) => /^line \d/.test(message));
        assert.deepEqual(
          lines,
          Array.from({ length: 700 }, (_, n) => `line ${n}`),
        );
        const { task, result } = await stage.report(taskId);
        assert.deepEqual([task.status, result?.['summary']], ['completed', 'Done without a network.']);
      } finally {
        await network.close();
      }
    }),
    'fails if the acceptance command fails, and keeps the commits': onStage('trouble', async (stage) => {
      installStandIn(stage.bin, "fs.writeFileSync('work.txt', 'x'); result();");
      const { taskId, branch } = await stage.createTask();
      const runner = stage.startRunner(['--once', '--acceptance', 'echo not good enough; exit 3']);
      assert.equal(await runner.ended, 1, runner.said());
      const { task, result = {} } = await stage.report(taskId);
      assert.deepEqual([task.status, task.failure?.class], ['failed', 'acceptance_failed']);
      assert.ok(isRecord(result['acceptance']));
      assert.deepEqual(
        [result['acceptance']['exitCode'], result['acceptance']['output']],
        [3, 'not good enough\n'],
      );
      assert.equal(git(stage.repo, 'show', `${branch}:work.txt`), 'x');
    }),
    'fails with a message if its base does not exist': onStage('trouble', async (stage) => {
      installStandIn(stage.bin, 'result();');
      const { taskId } = await stage.createTask({ config: { base: 'no-such-branch' } });
      const runner = stage.startRunner(['--once']);
      assert.equal(await runner.ended, 1, runner.said());
      const { task } = await stage.report(taskId);
      assert.equal(task.status, 'failed');
      assert.match(task.failure?.message ?? '', /The base "no-such-branch" is not a branch, tag or commit/);
    }),
    'is isolated from a concurrent task of the same runner': onStage('trouble', async (stage) => {
      installStandIn(stage.bin, "fs.writeFileSync('prompt.txt', fs.readFileSync(0, 'utf8')); result();");
      const tasks = await Promise.all(
        ['one', 'two', 'three'].map((name) =>
          stage.createTask({ instructions: `Make ${name}`, branch: `work/${name}` }),
        ),
      );
      const runner = stage.startRunner(['--concurrency', '2']);
      for (const { taskId } of tasks) await stage.untilState(taskId, 'done');
      for (const name of ['one', 'two', 'three'])
        assert.match(git(stage.repo, 'show', `work/${name}:prompt.txt`), new RegExp(`Make ${name}`));
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.said());
      assert.ok(!existsSync(`${stage.repo}/prompt.txt`));
    }),
    'is not started if the credential is invalid': onStage('trouble', async (stage) => {
      installStandIn(stage.bin, 'result();');
      const runner = stage.startRunner(['--once'], { agent: { id: 'nobody', token: 'mk_nobody.nothing' } });
      assert.equal(await runner.ended, 1);
      assert.match(runner.said(), /Invalid or revoked credential/);
      assert.doesNotMatch(runner.said(), /mk_nobody|at .*:\d+:\d+/);
    }),
    'is not started if the hub does not respond': onStage('trouble', async (stage) => {
      installStandIn(stage.bin, 'result();');
      const runner = stage.startRunner(['--once'], { url: 'http://127.0.0.1:9/mcp' });
      assert.equal(await runner.ended, 1);
      assert.match(runner.said(), /^The hub does not respond\. Check --url\./);
      assert.doesNotMatch(runner.said(), /at .*:\d+:\d+/);
    }),
  });
});

const testAgent = ({ agentId, credential }: Caller): TestAgent => ({ id: agentId, token: credential });
