import type { Principal } from '../../../../functions/src/identity/rules/principal.ts';
import { answer } from '../../coordination/calls.ts';
import { type LostResponseFixture, type Prepared, scenariosOf } from '../fixture.ts';
import { confirmation } from './proving.ts';

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
  answer: {
    'to an agent': async (fixture) => ({
      principal: owner(fixture),
      args: { request_id: await asked(fixture), answer: 'approve' },
    }),
    'that confirms a result': async (fixture) => ({
      principal: owner(fixture),
      args: await confirmation(fixture, { answer: 'approve' }),
    }),
    'that sends a result back': async (fixture) => ({
      principal: owner(fixture),
      args: await confirmation(fixture, { answer: 'request changes', comment: 'Rename it' }),
    }),
  },
  withdraw: async (fixture) => ({ args: { request_id: await asked(fixture) } }),
});
