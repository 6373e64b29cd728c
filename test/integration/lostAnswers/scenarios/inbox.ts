/** Scenarios for questions to people. */
import type { Principal } from '../../../../functions/src/identity/rules/principal.ts';
import { answer } from '../../coordination/calls.ts';
import { type Prepared, type Scene, scenariosOf } from '../scene.ts';

const QUESTION = { question: 'Go on?', kind: 'approval' };

/** Asks a question as the leader, to its owner. */
async function asked(scene: Scene): Promise<string> {
  return String((await answer(scene, 'inbox_ask', QUESTION))['request_id']);
}

function owner({ leader: { owner_uid: ownerUid, owner } }: Scene): Principal {
  return { uid: ownerUid, kind: 'person', owner_uid: ownerUid, maxRole: 'admin', owner };
}

async function aboutATask(scene: Scene): Promise<Prepared> {
  const { principal, task_id } = await scene.holder();
  return { principal, args: { ...QUESTION, task_id } };
}

export const inbox = scenariosOf('inbox', {
  ask: { 'without a task': async () => ({ args: QUESTION }), 'about a task': aboutATask },
  answer: async (scene) => ({
    principal: owner(scene),
    args: { request_id: await asked(scene), answer: 'approve' },
  }),
  withdraw: async (scene) => ({ args: { request_id: await asked(scene) } }),
});
