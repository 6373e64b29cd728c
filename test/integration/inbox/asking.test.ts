/** Questions of agents to people: each question is answered once, and its task waits for the answer. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { eventPath, mailPath, preferencesPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { answer as answerOf } from '../coordination/calls.ts';
import { InboxFixture } from './fixture.ts';

const ASK = { question: 'Which color?', kind: 'choice', options: ['red', 'blue'] };

describe('questions to people', () => {
  let fixture: InboxFixture;
  let agent: Principal;
  let ada: Principal;
  let ben: Principal;

  beforeEach(async () => {
    fixture = new InboxFixture();
    await fixture.open();
    agent = await fixture.agentOf('ada', 'worker');
    ada = await fixture.person('ada');
    ben = await fixture.person('ben');
  });

  const ask = async (more = {}) => String((await fixture.inbox(agent, 'ask', { ...ASK, ...more }))['request_id']);

  it('reach the owner of the agent, who finds and answers them', async () => {
    const asked = await fixture.inbox(agent, 'ask', ASK);
    const request_id = String(asked['request_id']);
    assert.deepEqual(asked['asked_of'], { uid: ada.uid, name: `ada of ${ada.uid}` });
    assert.match(String(asked['next']), /inbox_wait/);
    const waiting = await fixture.inbox(ada, 'list', { state: 'open' });
    assert.equal(Object(waiting['requests'])[0].request_id, request_id);
    await fixture.inbox(ada, 'answer', { request_id, answer: 'blue', comment: 'As the sea.' });
    const received = await fixture.inbox(agent, 'wait', { request_id, wait_ms: 0 });
    assert.deepEqual(
      [received['state'], received['answer'], received['comment'], received['answered_by']],
      ['answered', 'blue', 'As the sea.', { uid: ada.uid }],
    );
    const sent = await fixture.inbox(agent, 'list', { box: 'sent' });
    assert.equal(Object(sent['requests'])[0].state, 'answered');
    assert.deepEqual((await fixture.inbox(ada, 'list', { state: 'open' }))['requests'], []);
  });

  it('end the wait of an agent for the answer, even if another instance stores the answer', async () => {
    const request_id = await ask();
    const other = fixture.anotherInstance();
    const waited = fixture.inbox(agent, 'wait', { request_id, wait_ms: 20_000 }, other);
    await fixture.inbox(ada, 'answer', { request_id, answer: 'red' });
    assert.equal((await waited)['answer'], 'red');
  });

  it('accept one of the options, a repetition of the answer, and a change of it within a minute', async () => {
    const request_id = await ask();
    const wrong = await fixture.refusal(ada, 'inbox_answer', { request_id, answer: 'green' });
    assert.deepEqual([wrong.reason, wrong.entries], ['NOT_AN_OPTION', ['red', 'blue']]);
    await fixture.inbox(ada, 'answer', { request_id, answer: 'red' });
    await fixture.inbox(ada, 'answer', { request_id, answer: 'red' });
    fixture.pass(59);
    const changed = await fixture.inbox(ada, 'answer', { request_id, answer: 'blue' });
    assert.equal(changed['changed_at'], fixture.now.toISOString());
    const { docs } = await firestore()
      .collection('trail')
      .where('things', 'array-contains', `request:${request_id}`)
      .get();
    const effects = docs.map((one) => one.get('effects')[0]).filter(({ after }) => after.changed_at !== undefined);
    assert.deepEqual(
      effects.map(({ after }) => after.changed_at.toDate()),
      [fixture.now],
      'the audit log shows the change',
    );
    fixture.pass(1);
    const late = await fixture.refusal(ada, 'inbox_answer', { request_id, answer: 'red' });
    assert.deepEqual([late.reason, late.answer], ['ALREADY_ANSWERED', 'blue']);
    assert.match(late.message, /was answered more than a minute ago/);
    assert.equal((await fixture.inbox(agent, 'wait', { request_id, wait_ms: 0 }))['answer'], 'blue');
  });

  it('keep an answer that the asking agent has received, but not one that others have seen', async () => {
    const request_id = await ask();
    await fixture.inbox(ada, 'answer', { request_id, answer: 'red' });
    for (const tool of ['wait', 'list']) await fixture.inbox(ada, tool, tool === 'wait' ? { request_id } : {});
    await fixture.inbox(ada, 'answer', { request_id, answer: 'blue' });
    assert.equal((await fixture.inbox(agent, 'wait', { request_id }))['answer'], 'blue');
    const refused = await fixture.refusal(ada, 'inbox_answer', { request_id, answer: 'red' });
    assert.deepEqual([refused.reason, refused.answer], ['ALREADY_RECEIVED', 'blue']);
    await fixture.inbox(ada, 'answer', { request_id, answer: 'blue' });
  });

  it('accept answers from agents that the person allows, but never from the agent that asked', async () => {
    const request_id = await ask();
    const other: Principal = { ...agent, uid: 'agent:helper', agent_id: 'helper' };
    const given = { request_id, answer: 'red' };
    for (const one of [agent, other])
      assert.equal((await fixture.refusal(one, 'inbox_answer', given)).reason, 'NOT_A_PERSON');
    await fixture.lets('ada', ['helper', String(agent.agent_id)]);
    assert.equal((await fixture.refusal(agent, 'inbox_answer', given)).reason, 'NOT_A_PERSON');
    const answered = await fixture.inbox(other, 'answer', given);
    assert.deepEqual(answered['answered_by'], { uid: ada.uid, agent_id: 'helper' });
  });

  it('reach a member by uid or email, and fail with the same error for other and unknown people', async () => {
    for (const to of [ben.uid, fixture.email('ben')]) {
      const request_id = await ask({ to });
      assert.equal((await fixture.refusal(ada, 'inbox_answer', { request_id, answer: 'red' })).reason, 'NOT_ASKED');
      await fixture.inbox(ben, 'answer', { request_id, answer: 'red' });
    }
    const output = [];
    for (const to of [fixture.id('eve'), fixture.email('eve'), 'nobody', 'nobody@example.com']) {
      const { message, ...rest } = await fixture.refusal(agent, 'inbox_ask', { ...ASK, to });
      output.push(JSON.stringify({ ...rest, value: 0, message: message.replaceAll(to, 'X') }));
    }
    assert.equal(new Set(output).size, 1, output.join('\n'));
  });

  it('are hidden from other people', async () => {
    const request_id = await ask();
    const eve = { ...(await fixture.person('eve')), owner: { role: 'admin' as const, workspaces: {}, access: {} } };
    const hidden = async (id: string) => {
      const output = [];
      for (const [tool, more] of [
        ['wait', { wait_ms: 0 }],
        ['answer', { answer: 'red' }],
        ['withdraw', {}],
      ] as const)
        for (const one of [eve, ben])
          output.push((await fixture.refusal(one, `inbox_${tool}`, { request_id: id, ...more })).message);
      return output.map((message) => message.replaceAll(id, 'X'));
    };
    assert.deepEqual(await hidden(request_id), await hidden('request-none'));
    const elsewhere = await fixture.agentOf('ada', 'worker', { held_to: 'another' });
    await assert.rejects(fixture.inbox(elsewhere, 'wait', { request_id, wait_ms: 0 }));
  });

  it('can be withdrawn by the agent that asked or by its owner', async () => {
    const toBen = await ask({ to: ben.uid });
    assert.equal((await fixture.refusal(ben, 'inbox_withdraw', { request_id: toBen })).code, -32101);
    for (const one of [agent, ada]) {
      const withdrawn = await fixture.inbox(one, 'withdraw', { request_id: await ask() });
      assert.equal(withdrawn['state'], 'withdrawn');
    }
    await fixture.inbox(ada, 'withdraw', { request_id: toBen });
    assert.equal((await fixture.refusal(ben, 'inbox_answer', { request_id: toBen, answer: 'red' })).reason, 'NOT_OPEN');
  });

  it('expire once, in a read or in the sweep, with the default answer or without an answer', async () => {
    const ids = [await ask({ default: 'red' }), await ask()];
    fixture.pass(25 * 3600);
    const first = await fixture.inbox(agent, 'wait', { request_id: String(ids[0]), wait_ms: 0 });
    assert.deepEqual([first['state'], first['answer'], first['answered_by']], ['expired', 'red', undefined]);
    const listed = await fixture.inbox(ada, 'list', { state: 'open' });
    assert.equal(Object(listed['requests'])[0].state, 'expired');
    const stored = async () => (await fixture.app.inbox.ports.requests.find(String(ids[1])))?.value.state;
    assert.equal(await stored(), 'open', 'a list does not change the stored state');
    await fixture.sweepRequests();
    assert.equal(await stored(), 'expired');
    const second = await fixture.inbox(agent, 'wait', { request_id: String(ids[1]), wait_ms: 0 });
    assert.deepEqual([second['state'], second['answer']], ['expired', undefined]);
    await assert.rejects(fixture.inbox(ada, 'answer', { request_id: String(ids[1]), answer: 'red' }));
  });

  it('are rejected if their options, default or expiry are invalid for their kind', async () => {
    for (const [field, more] of [
      ['options', { options: ['red'] }],
      ['options', { options: ['red', 'red'] }],
      ['options', { kind: 'text' }],
      ['default', { default: 'green' }],
      ['expires', { expires: '2039-12-31T00:00:00Z' }],
      ['expires', { expires: '2040-03-01T00:00:00Z' }],
    ] as const)
      assert.equal((await fixture.refusal(agent, 'inbox_ask', { ...ASK, ...more })).field, field);
  });

  it('notify the person once on each channel that the person has chosen', async () => {
    await firestore().doc(preferencesPath(ada.uid)).set({ email: true });
    const request_id = await ask({ question: 'Red\r\nBcc: eve@example.com <b>or</b> blue?' });
    const eventId = `question-${request_id}`;
    assert.ok((await firestore().doc(eventPath(eventId)).get()).exists);
    const event = await fixture.app.todo.ports.taskHistory.find(eventId);
    assert.ok(event);
    for (let times = 0; times < 2; times++) await fixture.app.services.consumers.reminders.act(event);
    const mail = (await firestore().doc(mailPath(eventId)).get()).data();
    assert.deepEqual(mail?.['to'], [fixture.email('ada')]);
    assert.equal(mail?.['message'].subject, 'Question: Red Bcc: eve@example.com <b>or</b> blue?');
    assert.equal(mail?.['message'].html, undefined, 'the text is not sent as HTML');
    assert.equal(mail?.['request_id'], request_id);
  });

  describe('about a task', () => {
    const held = async () => {
      const agent_id = String(agent.agent_id);
      const request = { agentId: agent_id, role: 'worker' as const, workspace: fixture.workspace };
      await fixture.app.services.membership.join(agent, request, () => undefined);
      await fixture.create({});
      const claimed = await answerOf(fixture, 'coordination_claim_task', { agent_id, lease_seconds: 60 }, agent);
      return String(Object(claimed['task']).id);
    };
    const taskOf = async (id: string) => (await fixture.app.coordination.ports.tasks.find(id))?.value;

    it('keep the lease of the task while they are open, and the task shows whom it waits for', async () => {
      const task_id = await held();
      const request_id = await ask({ task_id });
      fixture.pass(3600);
      await fixture.sweep();
      const waiting = await taskOf(task_id);
      assert.deepEqual([waiting?.status, waiting?.claim?.claimed_by], ['claimed', agent.agent_id]);
      const shown = await answerOf(fixture, 'coordination_get_all_tasks', {}, agent);
      assert.deepEqual(Object(shown['tasks'])[0].waiting_for, { request_id, who: `ada of ${ada.uid}` });
      const queue = await answerOf(fixture, 'system_getTaskQueue', { includeAssigned: true }, agent);
      assert.equal(Object(queue['tasks'])[0].metadata.waitingFor, `ada of ${ada.uid}`);
      await fixture.inbox(ada, 'answer', { request_id, answer: 'red' });
      const after = await taskOf(task_id);
      assert.equal(after?.waiting_for, undefined);
      assert.equal(Number(after?.claim?.lease_expires_at) - fixture.now.getTime(), 60_000);
      fixture.pass(3600);
      await fixture.sweep();
      assert.equal((await taskOf(task_id))?.status, 'available');
    });

    it('keep the lease of the task even if its holder starts it while they are open', async () => {
      const task_id = await held();
      await ask({ task_id });
      await answerOf(fixture, 'coordination_start_task', { agent_id: String(agent.agent_id), task_id }, agent);
      fixture.pass(600);
      await fixture.sweep();
      assert.equal((await taskOf(task_id))?.status, 'in_progress');
    });

    it('stop keeping the lease of the task when they are withdrawn or expire', async () => {
      const task_id = await held();
      await fixture.inbox(agent, 'withdraw', { request_id: await ask({ task_id }) });
      assert.equal((await taskOf(task_id))?.waiting_for, undefined);
      await ask({ task_id });
      const again = await fixture.refusal(agent, 'inbox_ask', { ...ASK, task_id });
      assert.equal(again.reason, 'WAITS_ALREADY');
      fixture.pass(25 * 3600);
      await fixture.sweepRequests();
      assert.equal((await taskOf(task_id))?.waiting_for, undefined);
    });

    it('are accepted only from the holder of the task', async () => {
      const task_id = await held();
      const other = await fixture.agentOf('ben', 'worker');
      assert.equal((await fixture.refusal(other, 'inbox_ask', { ...ASK, task_id })).reason, 'NOT_HOLDER');
      assert.equal((await fixture.refusal(agent, 'inbox_ask', { ...ASK, task_id: 'none' })).code, -32200);
    });
  });
});
