import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { entry } from '../../coding/calls.ts';
import { type Scene, scenariosOf } from '../scene.ts';

/** Lets the runner claim a task, with another one available. */
async function claimed(scene: Scene, more: JsonObject = {}) {
  await scene.begin();
  const taskId = await scene.order({ priority: 1 });
  await scene.order();
  await scene.take();
  return { args: { taskId, ...more }, principal: scene.runner };
}

export const coding = scenariosOf('coding', {
  create_task: async (scene) => {
    const args = { tool: 'CLAUDECODE', description: 'Add a login', instructions: 'Use JWT' };
    return { args, principal: scene.creator };
  },
  claim_task: {
    'by an agent without a task': async (scene) => {
      await scene.begin();
      await scene.order();
      await scene.order();
      return { args: {}, principal: scene.runner };
    },
    'by an agent that holds a task': async (scene) => {
      await claimed(scene);
      await scene.order();
      return { args: {}, principal: scene.runner };
    },
  },
  update_task: {
    'with a log line': (scene) => claimed(scene, { log: 'The tests pass.' }),
    'to in_progress': (scene) => claimed(scene, { status: 'in_progress', log: 'I begin.' }),
    'to in_progress by its creator, who claims it': async (scene) => {
      await scene.begin();
      await scene.join('creator', []);
      return { args: { taskId: await scene.order(), status: 'in_progress' }, principal: scene.creator };
    },
    'to completed': (scene) => claimed(scene, { status: 'completed', log: 'I am done.' }),
  },
  append_logs: {
    'with the first lines': (scene) => claimed(scene, { epoch: 1, entries: [entry(0), entry(1)] }),
    'with more lines': async (scene) => {
      const { args, principal } = await claimed(scene);
      await scene.log(args.taskId, 1, [entry(0)]);
      return { args: { ...args, epoch: 1, entries: [entry(1), entry(2)] }, principal };
    },
  },
  heartbeat_task: (scene) => claimed(scene, { epoch: 1, progress: 'Running the tests' }),
  end_task: {
    completed: (scene) => claimed(scene, { status: 'completed', epoch: 1, result: { summary: 'Made it' } }),
    'as failed, with a retry': (scene) =>
      claimed(scene, { status: 'failed', epoch: 1, failure: { class: 'crashed', message: 'It crashed' } }),
    'as failed, with the task returned': (scene) =>
      claimed(scene, {
        status: 'failed',
        epoch: 1,
        failure: { class: 'authentication', message: 'Not logged in', returnAfterSeconds: 30 },
      }),
    'by its creator': async (scene) => {
      const { args } = await claimed(scene);
      return { args: { ...args, status: 'failed' }, principal: scene.creator };
    },
  },
  register_runner: {
    'for the first time': async (scene) => ({
      args: { programs: [{ name: 'claude', version: '2.1' }] },
      principal: scene.runner,
    }),
    'again, with another program': async (scene) => {
      await scene.begin();
      return { args: { programs: [{ name: 'gemini', version: '1.0' }] }, principal: scene.runner };
    },
  },
});
