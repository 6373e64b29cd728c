import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { entry } from '../../coding/calls.ts';
import { type LostResponseFixture, scenariosOf } from '../fixture.ts';

/** Creates two tasks, and lets the runner claim one of them. */
async function claimed(fixture: LostResponseFixture, more: JsonObject = {}) {
  await fixture.begin();
  const taskId = await fixture.order({ priority: 1 });
  await fixture.order();
  await fixture.take();
  return { args: { taskId, ...more }, principal: fixture.runner };
}

export const coding = scenariosOf('coding', {
  create_task: async (fixture) => {
    const args = { tool: 'CLAUDECODE', description: 'Add a login', instructions: 'Use JWT' };
    return { args, principal: fixture.creator };
  },
  claim_task: {
    'by an agent without a task': async (fixture) => {
      await fixture.begin();
      await fixture.order();
      await fixture.order();
      return { args: {}, principal: fixture.runner };
    },
    'by an agent that holds a task': async (fixture) => {
      await claimed(fixture);
      await fixture.order();
      return { args: {}, principal: fixture.runner };
    },
  },
  update_task: {
    'with a log line': (fixture) => claimed(fixture, { log: 'The tests pass.' }),
    'to in_progress': (fixture) => claimed(fixture, { status: 'in_progress', log: 'I begin.' }),
    'to in_progress by its creator, who claims it': async (fixture) => {
      await fixture.begin();
      await fixture.join('creator', []);
      return { args: { taskId: await fixture.order(), status: 'in_progress' }, principal: fixture.creator };
    },
    'to completed': (fixture) => claimed(fixture, { status: 'completed', log: 'I am done.' }),
  },
  append_logs: {
    'with the first lines': (fixture) => claimed(fixture, { epoch: 1, entries: [entry(0), entry(1)] }),
    'with more lines': async (fixture) => {
      const { args, principal } = await claimed(fixture);
      await fixture.log(args.taskId, 1, [entry(0)]);
      return { args: { ...args, epoch: 1, entries: [entry(1), entry(2)] }, principal };
    },
    'with a message that the coding agent heard': async (fixture) => {
      const { args, principal } = await claimed(fixture);
      const letter = { workspace: fixture.workspace, agentId: String(principal.agent_id), text: 'Look', ...args };
      const { id } = await fixture.app.services.messages.send(fixture.leader, letter, () => undefined);
      const heard = entry(0, 'Look', { type: 'message', prefix: String(fixture.leader.agent_id) });
      return { args: { ...args, epoch: 1, entries: [heard], heard: [id] }, principal };
    },
  },
  heartbeat_task: {
    'with progress': (fixture) => claimed(fixture, { epoch: 1, progress: 'Running the tests' }),
    'with files that another task has': async (fixture) => {
      await fixture.create({ files: ['src/'] });
      await fixture.claim(await fixture.join('bob'));
      return claimed(fixture, { epoch: 1, files: ['src/a.ts'] });
    },
  },
  end_task: {
    completed: (fixture) => claimed(fixture, { status: 'completed', epoch: 1, result: { summary: 'Made it' } }),
    'as failed, with a retry': (fixture) =>
      claimed(fixture, { status: 'failed', epoch: 1, failure: { class: 'crashed', message: 'It crashed' } }),
    'as failed, with the task returned': (fixture) =>
      claimed(fixture, {
        status: 'failed',
        epoch: 1,
        failure: { class: 'authentication', message: 'Not logged in', returnAfterSeconds: 30 },
      }),
    'by its creator': async (fixture) => {
      const { args } = await claimed(fixture);
      return { args: { ...args, status: 'failed' }, principal: fixture.creator };
    },
  },
  register_runner: {
    'for the first time': async (fixture) => ({
      args: { programs: [{ name: 'claude', version: '2.1' }] },
      principal: fixture.runner,
    }),
    'again, with another program': async (fixture) => {
      await fixture.begin();
      return { args: { programs: [{ name: 'gemini', version: '1.0' }] }, principal: fixture.runner };
    },
  },
});
