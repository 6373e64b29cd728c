import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { taskMessageFromDocument } from '../../../functions/src/toolsets/coordination/rules/mailbox.ts';
import { answer, call } from '../coordination/calls.ts';
import { CodingTeam, entry, fields } from './calls.ts';

const WAIT = { waitMs: 25_000 };

describe('messages to a coding agent at work', () => {
  let team: CodingTeam;
  let agent_id: string;

  /** Returns the runner's principal as the next check of its credential would return it. */
  const runner = async () => {
    const hasMessages = (await team.app.access.ports.agents.find(agent_id))?.value.has_messages === true;
    return { ...team.runner, ...(hasMessages && { has_messages: true as const }) };
  };
  const send = (message: string, more: JsonObject = {}) =>
    answer(team, 'coordination_message_agent', { agent_id, message, ...more });
  const beat = async (taskId: string, more: JsonObject = {}) =>
    team.ask('heartbeat_task', { taskId, epoch: 1, ...more }, await runner());
  const texts = ({ messages = [] }: { readonly messages?: unknown }) =>
    Array.isArray(messages) ? messages.map(({ text }) => text) : messages;
  const take = async (more: JsonObject = {}) => {
    const taskId = await team.order();
    return { taskId, claimed: await team.ask('claim_task', { taskId, ...more }, await runner()) };
  };

  beforeEach(async () => {
    team = await new CodingTeam().begin();
    agent_id = String(team.runner.agent_id);
    await team.ask('register_runner', { programs: [{ name: 'claude', version: '2.1.332' }], serves: 'workspace' });
  });

  it('end the wait of a heartbeat, even if the cached principal has no messages', async () => {
    const { taskId } = await take();
    const waiting = team.ask('heartbeat_task', { taskId, epoch: 1, ...WAIT });
    await send('Leave the tests');
    const [message] = (await waiting)['messages'] as readonly JsonObject[];
    assert.equal(message?.['text'], 'Leave the tests');
    const receivedUntil = message?.['id'] ?? '';
    const next = team.ask('heartbeat_task', { taskId, epoch: 1, receivedUntil, ...WAIT });
    await send('About nothing');
    assert.deepEqual(texts(await next), ['About nothing'], 'a received message ends no other wait');
  });

  it('do not delay the end of the task: a waiting heartbeat returns when the task was ended', async () => {
    const { taskId } = await take();
    const waiting = team.ask('heartbeat_task', { taskId, epoch: 1, ...WAIT });
    await team.ask('end_task', { taskId, status: 'failed' }, team.creator);
    const { stop, messages } = await waiting;
    assert.deepEqual([fields(stop)['reason'], messages], ['ended', undefined]);
  });

  it('are returned only for their task, and confirmed one by one', async () => {
    const [one, two] = [(await take()).taskId, (await take()).taskId];
    await send('To one', { task_id: one });
    await send('To two', { task_id: two });
    const { message_id } = await send('To all');
    assert.deepEqual(texts(await beat(one)), ['To one', 'To all']);
    assert.deepEqual(texts(await beat(two)), ['To two', 'To all']);
    assert.deepEqual(texts(await beat(two, { heard: [String(message_id)] })), ['To two']);
    assert.deepEqual(texts(await beat(one)), ['To one']);
    assert.deepEqual(texts((await take()).claimed), [], 'another claim gets no messages about these tasks');
  });

  it('about a task are not confirmed by the id that an older runner sends with its next claim', async () => {
    const { taskId } = await take();
    await send('About the task', { task_id: taskId });
    await send('First');
    const { message_id } = await send('Second');
    assert.deepEqual(texts((await take()).claimed), ['First', 'Second']);
    assert.deepEqual(texts((await take({ readUntil: String(message_id) })).claimed), []);
    assert.deepEqual(texts(await beat(taskId)), ['About the task']);
  });

  it('are confirmed by the commit that appends sender, text and time to the log', async () => {
    const { taskId } = await take();
    const { message_id } = await send('Leave the tests', { task_id: taskId });
    const heard = entry(0, 'Leave the tests', { type: 'message', prefix: String(team.leader.agent_id) });
    const report = { taskId, epoch: 1, entries: [heard], heard: [String(message_id)] };
    team.pass(5);
    for (const accepted of [1, 0]) {
      const { accepted: appended, messages } = await team.ask('append_logs', report, await runner());
      assert.deepEqual([appended, messages], [accepted, undefined]);
    }
    const { sequence: _, ...line } = heard;
    assert.deepEqual((await team.ask('get_task_logs', { taskId }))['entries'], [{ line: 0, ...line }]);
    assert.match(await team.read('log://message/2040-01-01'), /Leave the tests/);
    const { docs } = await firestore().collection(`tasks/${taskId}/messages`).get();
    assert.deepEqual(
      docs.map((one) => taskMessageFromDocument(one.data()).read_at),
      [team.now],
    );
    assert.equal((await runner()).has_messages, undefined);
  });

  it('stay unread if the claim was lost, and are returned with the next claim', async () => {
    const { taskId } = await take();
    await send('Leave the tests', { task_id: taskId });
    await answer(team, 'coordination_release_task', { task_id: taskId });
    const { stop, messages } = await beat(taskId);
    assert.deepEqual([fields(stop)['reason'], messages], ['claim_lost', undefined]);
    assert.deepEqual(texts(await team.ask('claim_task', { taskId }, await runner())), ['Leave the tests']);
  });

  it('are answered with the way in which the coding agent hears them', async () => {
    const hearing = async (more: JsonObject = {}) => (await send('Look', more))['at_work'];
    assert.equal(await hearing(), 'next_claim');
    const { taskId: slow } = await take();
    assert.equal(await hearing({ task_id: slow }), 'next_claim', 'an older runner');
    await beat(slow, { state: 'in_progress', hearing: 'between_turns' });
    assert.deepEqual([await hearing({ task_id: slow }), await hearing()], ['between_turns', 'between_turns']);
    const { taskId: quick } = await take();
    await beat(quick, { state: 'in_progress', hearing: 'between_steps' });
    assert.deepEqual([await hearing({ task_id: slow }), await hearing()], ['between_turns', 'between_steps']);
    await team.ask('end_task', { taskId: quick, status: 'completed', epoch: 1 });
    assert.deepEqual([await hearing({ task_id: quick }), await hearing()], ['next_claim', 'between_turns']);
    const ann = await team.join('ann');
    assert.equal(
      (await answer(team, 'coordination_message_agent', { agent_id: ann, message: 'Look' }))['at_work'],
      undefined,
    );
  });

  it('about closed coding tasks make room for new messages, but stay with their tasks', async () => {
    const { taskId } = await take();
    for (let count = 0; count < 20; count++) await send('Look', { task_id: taskId });
    const more = () => call(team, 'coordination_message_agent', { agent_id, message: 'More' });
    assert.equal((await more()).isError, true);
    await team.ask('end_task', { taskId, status: 'completed', epoch: 1 });
    assert.equal((await more()).isError, undefined);
    assert.deepEqual(texts((await take()).claimed), ['More']);
    const { docs } = await firestore().collection(`tasks/${taskId}/messages`).get();
    assert.ok(docs.every((one) => taskMessageFromDocument(one.data()).read_at === undefined));
    assert.equal(docs.length, 20);
  });
});
