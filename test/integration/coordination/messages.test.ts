import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskMessagePath } from '../../../functions/src/kernel/firestore/paths.ts';
import { taskMessageFromDocument } from '../../../functions/src/toolsets/coordination/rules/mailbox.ts';
import { agentOf } from '../../support/principals.ts';
import { answer, call } from './calls.ts';
import { Team, unkeyed } from './team.ts';

describe('messages to agents', () => {
  let team: Team;
  let ann: string;

  const send = (message: string, more = {}) =>
    answer(team, 'coordination_message_agent', { agent_id: ann, message, ...more });
  const texts = ({ messages }: { readonly messages?: unknown }) =>
    Array.isArray(messages) ? messages.map(({ text }) => text) : messages;

  /** Returns the principal of the agent ann that the next check of its credential would return. */
  const own = async () => {
    const hasMessages = (await team.app.access.ports.agents.find(ann))?.value.has_messages === true;
    return { ...team.principal('ann'), ...(hasMessages && { has_messages: true as const }) };
  };
  const beat = async (more = {}) => answer(team, 'coordination_heartbeat', { agent_id: ann, ...more }, await own());

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  it('are returned by start_task to the agent and to other agents of its owner', async () => {
    const { id: task_id } = await team.createOne();
    await team.claim(ann);
    const start = async (by = own()) => answer(team, 'coordination_start_task', { agent_id: ann, task_id }, await by);
    assert.equal(texts(await start()), undefined);
    const { message_id } = await send('Leave the tests');
    assert.deepEqual(texts(await start()), ['Leave the tests']);
    assert.deepEqual(texts(await start(Promise.resolve(team.leader))), ['Leave the tests']);
    await beat({ read_until: String(message_id) });
    assert.equal(texts(await start()), undefined);
  });

  it("are not returned to another owner's leader agent that acts for the agent", async () => {
    const { store } = team.app.kernel;
    const { people, roles } = team.app.access.ports;
    const { workspace, leader } = team;
    const eve = `eve-${workspace}`;
    const member = (uid: string, role: 'leader' | 'worker') =>
      ({ uid, workspace, role, added_by: 'a-test', added_at: team.now }) as const;
    await store.commit([
      { kind: 'nameWorkspace', workspace, access: 'private', before: 'private' },
      { kind: 'setMember', member: member(eve, 'leader') },
      { kind: 'setMember', member: member(leader.owner_uid, 'leader') },
    ]);
    assert.ok(await people.member(workspace, eve));
    const other = { ...agentOf('eve', eve, 'leader'), owner: await roles.of(eve) };
    await team.createOne();
    const { message_id } = await send('For you alone');
    for (const tool of ['coordination_heartbeat', 'coordination_claim_task'])
      assert.equal(texts(await answer(team, tool, { agent_id: ann }, other)), undefined, tool);
    const read = await call(team, 'coordination_heartbeat', { agent_id: ann, read_until: message_id }, other);
    assert.match(JSON.stringify(read.structuredContent), /You cannot read the messages/);
    assert.deepEqual(texts(await beat()), ['For you alone'], 'the message stays unread');
  });

  it('are returned only with calls in the workspace of the message', async () => {
    const { store } = team.app.kernel;
    const { mailboxes } = team.app.coordination.ports;
    await send('Here');
    const found = await mailboxes.find(ann);
    assert.ok(found);
    const [first] = found.value.messages;
    assert.ok(first);
    const elsewhere = { ...first, id: 'message-000000000', workspace: 'beta', text: 'There' };
    const mailbox = { ...found.value, messages: [elsewhere, ...found.value.messages] };
    await store.commit([{ kind: 'replaceMailbox', mailbox, version: found.version }]);
    const { messages } = await beat();
    assert.deepEqual(texts({ messages }), ['Here']);
    assert.ok(Array.isArray(messages));
    await beat({ read_until: messages[0].id });
    const left = (await mailboxes.find(ann))?.value.messages ?? [];
    const leftTexts = left.map(({ text }) => text);
    assert.deepEqual(leftTexts, ['There'], 'messages of the other workspace stay unread');
  });

  it('are returned by heartbeat and claim_task, with their sender, until they are read', async () => {
    assert.equal(texts(await beat()), undefined);
    const { id: task_id } = await team.createOne();
    await send('One', { task_id });
    team.pass(1);
    const { message_id } = await send('Two');
    const { messages } = await beat();
    assert.ok(Array.isArray(messages));
    const rows = messages.map(({ from, text, task_id: about }) => [from, text, about]);
    assert.deepEqual(rows, [
      [team.leader.agent_id, 'One', task_id],
      [team.leader.agent_id, 'Two', undefined],
    ]);
    const claimed = await answer(team, 'coordination_claim_task', { agent_id: ann }, await own());
    assert.deepEqual(texts(claimed), ['One', 'Two']);
    const again = await answer(team, 'coordination_claim_task', { agent_id: ann }, await own());
    assert.deepEqual([again['resumed'], texts(again)], [true, ['One', 'Two']]);
    await send('Three');
    assert.deepEqual(texts(await beat({ read_until: message_id })), ['Three']);
    assert.deepEqual(texts(await beat({ read_until: message_id })), ['Three'], 'a repeated call returns the same');
    const { message_id: last } = await send('Four');
    assert.equal(texts(await beat({ read_until: last })), undefined);
    assert.equal((await own()).has_messages, undefined);
  });

  it('about a task are kept with the task, with the time at which the agent confirmed them', async () => {
    const { id: task_id } = await team.createOne();
    const thread = async () => {
      const { docs } = await firestore().collection(`tasks/${task_id}/messages`).orderBy('at').get();
      return docs.map((one) => taskMessageFromDocument(one.data()));
    };
    const sentAt = team.now;
    const { message_id: first } = await send('One', { task_id });
    team.pass(1);
    const { message_id: last } = await send('Two', { task_id });
    await send('About nothing');
    const common = { workspace: team.workspace, from: team.leader.agent_id, to: ann };
    const one = { ...common, text: 'One', at: sentAt };
    const two = { ...common, text: 'Two', at: team.now };
    assert.deepEqual(await thread(), [one, two]);
    team.pass(1);
    const read_at = team.now;
    await beat({ read_until: first });
    assert.deepEqual(await thread(), [{ ...one, read_at }, two]);
    // An earlier release stores no copy of a message.
    await firestore()
      .doc(taskMessagePath(task_id, ann, String(last)))
      .delete();
    await beat({ read_until: last });
    assert.deepEqual(await thread(), [{ ...one, read_at }]);
    assert.deepEqual(texts(await beat()), ['About nothing']);
  });

  it('keep their order if several are sent concurrently, and none is lost', async () => {
    const numbers = Array.from({ length: 10 }, (_, number) => String(number));
    await Promise.all(numbers.map((number) => send(number)));
    const { messages } = await beat();
    assert.ok(Array.isArray(messages));
    assert.deepEqual(messages.map(({ text }) => text).sort(), numbers);
    const ids = messages.map(({ id }) => id);
    assert.deepEqual(ids.toSorted(), ids);
  });

  it('are limited to 20 unread messages per agent', async () => {
    const { messages, leader } = { messages: team.app.services.messages, leader: team.leader };
    for (let count = 0; count < 20; count++)
      await messages.send(leader, { workspace: team.workspace, agentId: ann, text: 'Look' }, unkeyed);
    const { isError, structuredContent } = await call(team, 'coordination_message_agent', {
      agent_id: ann,
      message: 'Look',
    });
    assert.equal(isError, true);
    assert.match(String(structuredContent['error']), /has 20 unread messages, the maximum/);
  });

  it('are rejected if they name agents or tasks of other workspaces, or if a viewer sends them', async () => {
    const elsewhere = new Team();
    const stranger = await elsewhere.join('bob');
    const { id } = await elsewhere.createOne();
    for (const args of [
      { agent_id: stranger, message: 'Hello' },
      { agent_id: 'nobody', message: 'Hello' },
      { agent_id: ann, message: 'Hello', task_id: id },
    ]) {
      const { isError, structuredContent } = await call(team, 'coordination_message_agent', args);
      assert.equal(isError, true);
      assert.match(String(structuredContent['error']), /(?:Agent|Task) ".+" not found/);
    }
    const viewer = agentOf('viewer', team.leader.owner_uid, 'viewer');
    const { isError } = await call(team, 'coordination_message_agent', { agent_id: ann, message: 'Hello' }, viewer);
    assert.equal(isError, true);
  });
});
