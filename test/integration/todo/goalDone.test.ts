/** The notification of a goal whose tasks are all closed. Source: docs/guides/reminders.md#notifications. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { preferencesPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { notificationsPath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer } from '../coordination/calls.ts';

describe('a goal whose tasks are all closed', () => {
  let fixture: AccessFixture;
  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.closeTo({ ada: 'leader' });
  });

  const notices = async () =>
    Object.values(Object((await (await realtimeDatabase()).ref(notificationsPath(fixture.id('ada'))).get()).val()));
  /** Runs the trigger for a task that was open before, twice, because events can be repeated. */
  const follow = async (id: string, before: object = { status: 'in_progress' }) => {
    const after = (await firestore().doc(taskPath(id)).get()).data();
    for (const _ of [1, 2]) await fixture.app.services.tellIfGoalDone({ ...after, ...before }, after);
  };

  it('is reported once to the owner of the task that was closed last, with the results', async () => {
    const ada = await fixture.person('ada');
    const agent = await fixture.agentOf('ada', 'worker');
    const agent_id = String(agent.agent_id);
    await firestore()
      .doc(preferencesPath(fixture.id('ada')))
      .set({ email: true });
    await answer(fixture, 'coordination_init_coordination', { goal: 'Launch the newsletter' }, ada);
    await answer(fixture, 'coordination_register_agent', { agent_id, role: 'worker', capabilities: [] }, agent);
    const ids: string[] = [];
    for (const description of ['Write it', 'Send it', 'Frame it'])
      ids.push(Object(await answer(fixture, 'coordination_create_task', { description }, ada))['task'].id);
    const closed: string[] = [];
    for (const _ of [1, 2]) {
      const task_id = Object((await answer(fixture, 'coordination_claim_task', { agent_id }, agent))['task']).id;
      await answer(fixture, 'coordination_complete_task', { agent_id, task_id, output: `Did ${task_id}` }, agent);
      await follow(task_id);
      closed.push(task_id);
    }
    assert.deepEqual(await notices(), [], 'a task is open');
    const third = ids.find((id) => !closed.includes(id)) ?? assert.fail('no task is left');
    await answer(fixture, 'coordination_cancel_task', { task_id: third }, ada);
    await follow(third, { status: 'cancelled' });
    assert.deepEqual(await notices(), [], 'the task was closed before');
    await follow(third, { status: 'available' });
    const [notice, ...more] = await notices();
    assert.equal(more.length, 0);
    const { title, body } = Object(notice);
    assert.equal(title, 'Launch the newsletter');
    assert.match(body, /^All tasks are closed: 2 done\. 1 failed or were cancelled\.\n/);
    for (const id of closed) assert.match(body, new RegExp(`^- (Write|Send|Frame) it: Did ${id}$`, 'm'));
    const mails = await firestore().collection('mail').where('to', 'array-contains', fixture.email('ada')).get();
    assert.deepEqual(
      mails.docs.map((mail) => mail.get('message.subject')),
      ['Goal done: Launch the newsletter'],
    );
    assert.match(mails.docs[0]?.get('message.text'), new RegExp(`\\?workspace=${fixture.workspace}$`, 'm'));
  });
});
