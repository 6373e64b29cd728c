import { answer } from '../../coordination/calls.ts';
import { unkeyed } from '../../coordination/team.ts';
import { type Scene, scenariosOf } from '../scene.ts';

const WORKFLOW = { name: 'two', steps: [{ agent: 'claude' }, { agent: 'gemini' }] };
const SAVED = { name: 'saved', steps: [{ name: 'only', agent: 'claude' }] };
const PROMPT = { prompt: 'Do it', preferences: { workflow: 'direct', agent: 'claude' } };

async function save(scene: Scene): Promise<void> {
  await scene.app.services.orchestration.workflows.save(scene.leader.ownerUid, SAVED, undefined, unkeyed);
}

export const orchestration = scenariosOf('orchestration', {
  orchestrate: {
    'that is executed': async () => ({ args: PROMPT }),
    'that was answered before': async (scene) => {
      await answer(scene, 'orchestration_orchestrate', PROMPT);
      return { args: PROMPT };
    },
  },
  orchestrate_workflow: async () => ({ args: { workflow: WORKFLOW, input: 'Do it' } }),
  orchestrate_parallel: async () => ({
    args: { prompt: 'Do it', agents: ['claude', 'gemini'], mode: 'all' },
  }),
  execute_code: async () => ({ args: { prompt: 'Do it' } }),
  execute_task: async () => ({ args: { task: { id: 'one', prompt: 'Do it' } } }),
  save_workflow: {
    'for the first time': async () => ({ args: { workflow: SAVED } }),
    'in place of another': async (scene) => {
      await save(scene);
      return { args: { workflow: { ...SAVED, steps: [{ name: 'only', agent: 'gemini' }] } } };
    },
  },
  delete_workflow: async (scene) => {
    await save(scene);
    return { args: { name: 'saved' } };
  },
  cancel_run: async (scene) => ({ args: { runId: await scene.pendingRun() } }),
});
