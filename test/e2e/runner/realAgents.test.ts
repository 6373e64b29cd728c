/** The real coding agents do a task, hear a message in it, are refused by their vendor, and are cancelled. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { git } from '../../../runner/test/support/folders.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { runConcurrently } from '../support/concurrently.ts';
import type { Behavior } from '../support/scriptedModel.ts';
import { eventually } from '../support/waiting.ts';
import { isRunning, type RunnerFixture, type RunnerProcess, TIMEOUT_MS, withRunnerFixture } from './fixture.ts';
import { AUTH_SOURCE } from './programs.ts';
import { ALL, BY_DAY, type RealAgent } from './realAgents.ts';

const AT_ONCE = 2;
const MESSAGE = 'The token is valid for one hour.';

describe('a runner with real coding agents', () => {
  const tests = defaultOrNightly(BY_DAY, { night: ALL }).flatMap(testsOf);
  runConcurrently(AT_ONCE, Object.fromEntries(tests));
});

function testsOf(agent: RealAgent): [string, () => Promise<void>][] {
  const { tool } = agent;
  const inFixture = (test: (fixture: RunnerFixture) => Promise<void>) => withRunnerFixture('real', test);
  return [
    [`does a task with ${tool}, which hears a message during its work`, inFixture((fixture) => does(fixture, agent))],
    [
      `returns the task if the vendor of ${tool} refuses the credential`,
      inFixture((fixture) => isRefused(fixture, agent)),
    ],
    [`reports a limit of the vendor of ${tool}`, inFixture((fixture) => isLimited(fixture, agent))],
    [`stops ${tool} if its task is cancelled`, inFixture((fixture) => isCancelled(fixture, agent))],
  ];
}

interface Play {
  readonly agent: RealAgent;
  readonly behavior: Behavior;
  readonly config?: object;
}

/** Starts a runner for one task of the agent, whose model behaves as given. */
async function withTask(
  fixture: RunnerFixture,
  { agent, behavior, config = {} }: Play,
  test: (task: { taskId: string; branch: string }, runner: RunnerProcess) => Promise<void>,
): Promise<void> {
  agent.install(fixture.bin);
  const model = await agent.startModel(fixture.folder, behavior);
  try {
    const task = await fixture.createTask({ tool: agent.tool, config });
    const runner = fixture.startRunner(['--task', task.taskId, '--worktrees', worktreesOf(fixture)], {
      env: model.env,
    });
    await test(task, runner);
  } finally {
    await model.close();
  }
}

function worktreesOf({ folder }: RunnerFixture): string {
  return `${folder}/worktrees`;
}

/** Returns the folder of the task's worktree, which exists only while the task runs. */
function worktreeIn(fixture: RunnerFixture): string {
  return `${worktreesOf(fixture)}/${readdirSync(worktreesOf(fixture))[0]}`;
}

async function does(fixture: RunnerFixture, agent: RealAgent): Promise<void> {
  let arrived = false;
  let heardInTurn = false;
  // The model works until it knows the message, or until the message waits for the next turn.
  const behavior: Behavior = async (texts, results) => {
    if (results === 0) return agent.write(`${worktreeIn(fixture)}/src/auth.js`, AUTH_SOURCE);
    const knows = texts.some((text) => text.includes(MESSAGE));
    heardInTurn ||= knows;
    if (knows || (arrived && !agent.hearsDuringTurns)) return undefined;
    return agent.look(`${worktreeIn(fixture)}/README.md`, results);
  };
  await withTask(fixture, { agent, behavior }, async ({ taskId, branch }, runner) => {
    await eventually('the agent has written the file', async () => hasWritten(fixture) || undefined, TIMEOUT_MS);
    await fixture.lead('message_agent', { agent_id: fixture.agent.id, message: MESSAGE, task_id: taskId });
    await eventually(
      'the message has arrived',
      async () => (await arrivedIn(fixture, taskId)) || undefined,
      TIMEOUT_MS,
    );
    arrived = true;
    assert.equal(await runner.ended, 0, runner.output());
    assert.ok(heardInTurn, 'the model has received the message');
    assert.equal(git(fixture.repo, 'show', `${branch}:src/auth.js`), AUTH_SOURCE.trim());
    const { task, result = {} } = await fixture.report(taskId);
    assert.deepEqual([task.status, result['summary']], ['completed', 'Done.']);
    const log = await fixture.logs(taskId);
    const [entry, ...more] = log.filter(({ type }) => type === 'message');
    assert.deepEqual([entry?.message, more.length], [MESSAGE, 0]);
    assert.ok(entry?.prefix);
  });
}

function hasWritten(fixture: RunnerFixture): boolean {
  return existsSync(worktreesOf(fixture)) && existsSync(`${worktreeIn(fixture)}/src/auth.js`);
}

async function arrivedIn(fixture: RunnerFixture, taskId: string): Promise<boolean> {
  return (await fixture.logs(taskId)).some(({ message }) => /has arrived/.test(message));
}

function isRefused(fixture: RunnerFixture, agent: RealAgent): Promise<void> {
  return withTask(fixture, { agent, behavior: () => ({ status: 401 }) }, async ({ taskId }, runner) => {
    assert.equal(await runner.ended, 1, runner.output());
    const { task, attempts } = await fixture.report(taskId);
    assert.deepEqual([task.failure?.class, task.attempt, attempts], ['authentication', 0, []], runner.output());
  });
}

function isLimited(fixture: RunnerFixture, agent: RealAgent): Promise<void> {
  const config = agent.reportsLimits ? {} : { silenceSeconds: 12 };
  return withTask(fixture, { agent, behavior: () => ({ status: 429 }), config }, async ({ taskId }, runner) => {
    assert.equal(await runner.ended, 1, runner.output());
    const { task } = await fixture.report(taskId);
    assert.equal(task.failure?.class, agent.reportsLimits ? 'rate_limit' : 'no_output', task.failure?.message);
  });
}

async function isCancelled(fixture: RunnerFixture, agent: RealAgent): Promise<void> {
  let asked = false;
  const never = new Promise<undefined>(() => undefined);
  const behavior: Behavior = () => {
    asked = true;
    return never;
  };
  await withTask(fixture, { agent, behavior }, async ({ taskId }, runner) => {
    await eventually('the agent has asked its model', async () => asked || undefined, TIMEOUT_MS);
    await fixture.lead('cancel_task', { task_id: taskId, reason: 'no longer wanted' });
    assert.equal(await runner.ended, 1, runner.output());
    assert.equal((await fixture.report(taskId)).task.state, 'cancelled');
    assert.ok(!isRunning(runner.pid));
    assert.deepEqual(readdirSync(worktreesOf(fixture)), []);
  });
}
