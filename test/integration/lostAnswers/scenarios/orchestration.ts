import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { answer } from '../../coordination/calls.ts';
import { unkeyed } from '../../coordination/team.ts';
import { type Scene, scenariosOf } from '../scene.ts';

const WORKFLOW = { name: 'two', steps: [{ agent: 'claude' }, { agent: 'gemini' }] };
const SAVED = { name: 'saved', steps: [{ name: 'only', agent: 'claude' }] };
const PROMPT = { prompt: 'Do it', preferences: { workflow: 'direct', agent: 'claude' } };

async function save(scene: Scene): Promise<void> {
  await scene.app.services.orchestration.workflows.save(scene.leader.owner_uid, SAVED, undefined, unkeyed);
}

/** Returns the arguments, and makes the leader's owner a member: each step checks that the owner may run it. */
async function asMember(scene: Scene, args: JsonObject) {
  const { workspace, leader, now: addedAt } = scene;
  const member = {
    uid: leader.owner_uid,
    workspace,
    role: 'leader',
    added_by: 'a-test',
    added_at: addedAt,
  } as const;
  await scene.app.kernel.store.commit([
    { kind: 'nameWorkspace', workspace, access: 'private' },
    { kind: 'setMember', member },
  ]);
  return { args };
}

export const orchestration = scenariosOf('orchestration', {
  orchestrate: {
    'that calls a model': (scene) => asMember(scene, PROMPT),
    'with a repeated prompt': async (scene) => {
      const asked = await asMember(scene, PROMPT);
      await answer(scene, 'orchestration_orchestrate', PROMPT);
      return asked;
    },
  },
  orchestrate_workflow: (scene) => asMember(scene, { workflow: WORKFLOW, input: 'Do it' }),
  orchestrate_parallel: (scene) =>
    asMember(scene, { prompt: 'Do it', agents: ['claude', 'gemini'], mode: 'all' }),
  execute_code: (scene) => asMember(scene, { prompt: 'Do it' }),
  execute_task: (scene) => asMember(scene, { task: { id: 'one', prompt: 'Do it' } }),
  save_workflow: {
    'for the first time': async () => ({ args: { workflow: SAVED } }),
    'over an existing one': async (scene) => {
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
