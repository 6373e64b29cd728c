import type { Principal } from '../../../../functions/src/identity/rules/principal.ts';
import { answer } from '../../coordination/calls.ts';
import { type LostResponseFixture, type Prepared, scenariosOf } from '../fixture.ts';

const QUESTION = { question: 'Go on?', kind: 'approval' };

/** Asks a question as the leader, to its owner. */
async function asked(fixture: LostResponseFixture): Promise<string> {
  return String((await answer(fixture, 'inbox_ask', QUESTION))['request_id']);
}

function owner({ leader: { owner_uid: ownerUid, owner } }: LostResponseFixture): Principal {
  return { uid: ownerUid, kind: 'person', owner_uid: ownerUid, maxRole: 'admin', owner };
}

async function aboutATask(fixture: LostResponseFixture): Promise<Prepared> {
  const { principal, task_id } = await fixture.holder();
  return { principal, args: { ...QUESTION, task_id } };
}

export const inbox = scenariosOf('inbox', {
  ask: { 'without a task': async () => ({ args: QUESTION }), 'about a task': aboutATask },
  answer: async (fixture) => ({
    principal: owner(fixture),
    args: { request_id: await asked(fixture), answer: 'approve' },
  }),
  withdraw: async (fixture) => ({ args: { request_id: await asked(fixture) } }),
});
