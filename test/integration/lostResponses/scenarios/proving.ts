/** Tasks whose result must be proven, in each situation in which a call changes them. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { answer } from '../../coordination/calls.ts';
import type { LostResponseFixture, Prepared, Scenario } from '../fixture.ts';

type Prepare = Scenario['prepare'];

interface Proving {
  readonly task_id: string;
  readonly author: string;
  readonly reviewer: string;
}

/** Creates a task that ann holds, and bob, who can review it. Another task depends on the task. */
async function held(fixture: LostResponseFixture, acceptance: JsonObject): Promise<Proving> {
  const { leader } = fixture;
  await fixture.app.kernel.store.commit([{ kind: 'setPerson', uid: leader.owner_uid, role: 'leader' }]);
  const [author, reviewer] = [await fixture.join('ann'), await fixture.join('bob')];
  const { task } = await answer(fixture, 'coordination_create_task', { description: 'Write it', acceptance });
  const task_id = String(Object(task).id);
  await fixture.create({ dependencies: [task_id] });
  assert.equal(await fixture.claim(author), task_id);
  await fixture.start(author, task_id);
  return { task_id, author, reviewer };
}

const handIn = ({ task_id, author: agent_id }: Proving, output = 'Wrote it') => ({ task_id, agent_id, output });

/** Hands in the result. */
export async function verifying(fixture: LostResponseFixture, acceptance: JsonObject): Promise<Proving> {
  const proving = await held(fixture, acceptance);
  await answer(fixture, 'coordination_complete_task', handIn(proving), fixture.principal('ann'));
  return proving;
}

/** Hands in the result, and lets bob claim the review. Returns the arguments of his verdict. */
async function judged(
  fixture: LostResponseFixture,
  verdict: 'approve' | 'request_changes',
  acceptance: JsonObject = { review: 'any' },
): Promise<Prepared> {
  const { reviewer: agent_id } = await verifying(fixture, acceptance);
  const task_id = await fixture.claim(agent_id);
  assert.ok(task_id);
  return { args: { agent_id, task_id, output: 'I read it', verdict }, principal: fixture.principal('bob') };
}

export const handsIn: Readonly<Record<string, Prepare>> = {
  'of a result for a review': async (fixture) => {
    return { args: handIn(await held(fixture, { review: 'any' })), principal: fixture.principal('ann') };
  },
  'of a result for a person': async (fixture) => {
    return { args: handIn(await held(fixture, { confirm: 'owner' })), principal: fixture.principal('ann') };
  },
  'of a result for a command': async (fixture) => {
    const args = { ...handIn(await held(fixture, { command: 'npm test' })), branch: 'feature/x' };
    return { args, principal: fixture.principal('ann') };
  },
  'of a review that approves': (fixture) => judged(fixture, 'approve'),
  'of a review that approves, after which a person confirms': (fixture) =>
    judged(fixture, 'approve', { review: 'any', confirm: 'owner' }),
  'of a review that sends the result back': (fixture) => judged(fixture, 'request_changes'),
  'of a review whose correction was requested before': async (fixture) => {
    const { args, principal = fixture.leader } = await judged(fixture, 'request_changes');
    await answer(fixture, 'coordination_complete_task', args, principal);
    const agent_id = fixture.agentId('ann');
    const task_id = await fixture.claim(agent_id);
    const again = { agent_id, task_id: String(task_id), output: 'Wrote it again' };
    await answer(fixture, 'coordination_complete_task', again, fixture.principal('ann'));
    return { args: { ...args, task_id: String(await fixture.claim(fixture.agentId('bob'))) }, principal };
  },
};

export const sendsBack: Readonly<Record<string, Prepare>> = {
  'with comments on a verifying task': async (fixture) => {
    const { task_id } = await verifying(fixture, { review: 'any' });
    return { args: { task_id, comments: 'Rename it' } };
  },
  'with comments on a done task': async (fixture) => {
    const { task_id } = await verifying(fixture, {});
    return { args: { task_id, comments: 'Rename it' } };
  },
};

export const waives: Prepare = async (fixture) => {
  const { task_id } = await verifying(fixture, { review: 'any' });
  return { args: { task_id, clear: ['acceptance'] } };
};

export const cancelsVerifying: Prepare = async (fixture) => {
  const { task_id } = await verifying(fixture, { review: 'any' });
  return { args: { task_id } };
};

/** Returns the arguments of an answer to the question about a result. */
export async function confirmation(fixture: LostResponseFixture, given: JsonObject): Promise<JsonObject> {
  const { task_id } = await verifying(fixture, { confirm: 'owner' });
  const { proof } = await fixture.task(task_id);
  return { request_id: proof?.check ?? assert.fail('no question'), ...given };
}
