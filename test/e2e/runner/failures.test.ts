/** Failures of a runner, its coding agent or the network. Scripted stand-ins replace the coding agent. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { addCallers, type Caller } from '../../../bench/seed.ts';
import { git } from '../../../runner/test/support/folders.ts';
import { DEAF, FOREVER, installStandIn, withChildren } from '../../../runner/test/support/standIn.ts';
import type { TestAgent } from '../support/agents.ts';
import { isRecord } from '../support/clients.ts';
import { runConcurrently } from '../support/concurrently.ts';
import { Deployment } from '../support/delivery/deployment.ts';
import { eventually } from '../support/waiting.ts';
import { closing, isRunning, RunnerFixture, TIMEOUT_MS, withRunnerFixture } from './fixture.ts';
import { openNetwork } from './network.ts';

/** Number of concurrent tests. A test mostly waits for the end of a lease or process, or for a response. */
const AT_ONCE = 3;

/** The shortest lease that a runner accepts. */
const LEASE_SECONDS = 15;

describe('a runner', () => {
  /** Installs a coding agent that at its first start writes a file and hangs, and at its second start finishes. */
  function installForgetful(fixture: RunnerFixture): void {
    const again = `${fixture.folder}/again`;
    installStandIn(
      fixture.bin,
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

  async function assertFinished(fixture: RunnerFixture, taskId: string, branch: string): Promise<void> {
    const { task, attempts, result = {} } = await fixture.report(taskId);
    assert.deepEqual([task.status, task.attempt], ['completed', 2]);
    const classes = attempts.map(({ failure }) => failure.class);
    assert.deepEqual(classes, ['runner_lost']);
    assert.equal(result['summary'], 'Finished.');
    assert.match(
      git(fixture.repo, 'show', `${branch}:second.txt`),
      /first\.txt/,
      'the second attempt has the file of the first attempt',
    );
    assert.ok(Array.isArray(result['files']) && result['files'].length === 2);
  }

  runConcurrently(AT_ONCE, {
    'leaves no process of its coding agent when it is killed': withRunnerFixture('trouble', async (fixture) => {
      const pidFile = `${fixture.folder}/pids`;
      installStandIn(fixture.bin, `${DEAF} ${withChildren(pidFile, "said('At work.');")} ${FOREVER}`);
      const { taskId } = await fixture.createTask();
      const runner = fixture.startRunner([]);
      await fixture.untilLogged(taskId, 'At work.');
      runner.signal('SIGKILL');
      await runner.ended;
      const pids = readFileSync(pidFile, 'utf8').trim().split('\n').map(Number);
      await eventually('all agent processes have ended', async () => !pids.some(isRunning) || undefined, TIMEOUT_MS);
    }),
    'finishes the task of a killed runner after the lease of the task has expired': async () => {
      const deployment = await Deployment.create({ hasBroker: false, pushServiceUrl: '' });
      try {
        const [[leader], [one, other], hubUrl, sweepUrl] = await Promise.all([
          addCallers(deployment, 'leader'),
          addCallers(deployment, 'worker', 2),
          deployment.urlOf('mcp'),
          deployment.urlOf('sweep'),
        ]);
        assert.ok(leader && one && other);
        await closing(await RunnerFixture.at(hubUrl, testAgent(one), testAgent(leader)), async (fixture) => {
          installForgetful(fixture);
          const { taskId, branch } = await fixture.createTask();
          const killed = fixture.startRunner(['--lease', `${LEASE_SECONDS}`]);
          await fixture.untilLogged(taskId, 'Half done.');
          killed.signal('SIGKILL');
          await killed.ended;
          const next = fixture.startRunner(['--once'], { agent: testAgent(other) });
          await fixture.untilSaid(next, /Waiting/);
          deployment.moveTime((LEASE_SECONDS + 1) * 1000);
          assert.equal((await fetch(sweepUrl, { method: 'POST' })).status, 200);
          assert.equal(await next.ended, 0, next.output());
          await assertFinished(fixture, taskId, branch);
        });
      } finally {
        await deployment.end();
      }
    },
    'finishes its task if it is killed and restarted': withRunnerFixture('trouble', async (fixture) => {
      installForgetful(fixture);
      const { taskId, branch } = await fixture.createTask();
      const killed = fixture.startRunner([]);
      await fixture.untilLogged(taskId, 'Half done.');
      killed.signal('SIGKILL');
      await killed.ended;
      const next = fixture.startRunner(['--once']);
      assert.equal(await next.ended, 0, next.output());
      await assertFinished(fixture, taskId, branch);
    }),
    'releases its task immediately when it gets SIGTERM': withRunnerFixture('trouble', async (fixture) => {
      installForgetful(fixture);
      const { taskId, branch } = await fixture.createTask();
      const runner = fixture.startRunner([]);
      await fixture.untilLogged(taskId, 'Half done.');
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.output());
      const next = fixture.startRunner(['--task', taskId]);
      assert.equal(await next.ended, 0, next.output());
      await assertFinished(fixture, taskId, branch);
    }),
    'loses no log line and no result during a network outage': withRunnerFixture('trouble', async (fixture) => {
      const go = `${fixture.folder}/go`;
      installStandIn(
        fixture.bin,
        `said('Connected.');
      const timer = setInterval(() => {
        if (!fs.existsSync(${JSON.stringify(go)})) return;
        clearInterval(timer);
        for (let n = 0; n < 700; n++) console.log('line ' + n);
        fs.writeFileSync('work.txt', 'done');
        result('Done without a network.');
      }, 20);`,
      );
      const network = await openNetwork(fixture.url);
      try {
        const { taskId, branch } = await fixture.createTask();
        const runner = fixture.startRunner(['--once'], { url: network.url });
        await fixture.untilLogged(taskId, 'Connected.');
        network.cut();
        writeFileSync(go, '');
        await eventually(
          "the agent's work is committed",
          async () => {
            const log = git(fixture.repo, 'log', '--format=%s', branch);
            return log.startsWith('Add authentication') || undefined;
          },
          TIMEOUT_MS,
        );
        await fixture.untilSaid(runner, /hub does not respond/);
        assert.notEqual((await fixture.report(taskId)).task.status, 'completed');
        network.restore();
        assert.equal(await runner.ended, 0, runner.output());
        const lines = (await fixture.logs(taskId))
          .map(({ message }) => message)
          .filter((message) => /^line \d/.test(message));
        const expected = Array.from({ length: 700 }, (_, n) => `line ${n}`);
        assert.deepEqual(lines, expected);
        const { task, result } = await fixture.report(taskId);
        assert.deepEqual([task.status, result?.['summary']], ['completed', 'Done without a network.']);
      } finally {
        await network.close();
      }
    }),
    'fails a task if its acceptance command fails, and keeps commits': withRunnerFixture('trouble', async (fixture) => {
      installStandIn(fixture.bin, "fs.writeFileSync('work.txt', 'x'); result();");
      const { taskId, branch } = await fixture.createTask();
      const runner = fixture.startRunner(['--once', '--acceptance', 'echo not good enough; exit 3']);
      assert.equal(await runner.ended, 1, runner.output());
      const { task, result = {} } = await fixture.report(taskId);
      assert.deepEqual([task.status, task.failure?.class], ['failed', 'acceptance_failed']);
      assert.ok(isRecord(result['acceptance']));
      assert.deepEqual([result['acceptance']['exitCode'], result['acceptance']['output']], [3, 'not good enough\n']);
      assert.equal(git(fixture.repo, 'show', `${branch}:work.txt`), 'x');
    }),
    'does concurrent tasks in separate worktrees': withRunnerFixture('trouble', async (fixture) => {
      installStandIn(fixture.bin, "fs.writeFileSync('prompt.txt', listen()); result();");
      const tasks = await Promise.all(
        ['one', 'two', 'three'].map((name) =>
          fixture.createTask({ instructions: `Make ${name}`, branch: `work/${name}` }),
        ),
      );
      const runner = fixture.startRunner(['--concurrency', '2']);
      for (const { taskId } of tasks) await fixture.untilState(taskId, 'done');
      for (const name of ['one', 'two', 'three'])
        assert.match(git(fixture.repo, 'show', `work/${name}:prompt.txt`), new RegExp(`Make ${name}`));
      runner.signal('SIGTERM');
      assert.equal(await runner.ended, 0, runner.output());
      assert.ok(!existsSync(`${fixture.repo}/prompt.txt`));
    }),
    'exits with an error if its credential is invalid': withRunnerFixture('trouble', async (fixture) => {
      installStandIn(fixture.bin, 'result();');
      const runner = fixture.startRunner(['--once'], { agent: { id: 'nobody', token: 'mk_nobody.nothing' } });
      assert.equal(await runner.ended, 1);
      assert.match(runner.output(), /Invalid or revoked credential/);
      assert.doesNotMatch(runner.output(), /mk_nobody|at .*:\d+:\d+/);
    }),
    'exits with an error if the hub does not respond': withRunnerFixture('trouble', async (fixture) => {
      installStandIn(fixture.bin, 'result();');
      const runner = fixture.startRunner(['--once'], { url: 'http://127.0.0.1:9/mcp' });
      assert.equal(await runner.ended, 1);
      assert.match(runner.output(), /^The hub does not respond\. Check --url\./);
      assert.doesNotMatch(runner.output(), /at .*:\d+:\d+/);
    }),
  });
});

const testAgent = ({ agentId, credential }: Caller): TestAgent => ({ id: agentId, token: credential });
