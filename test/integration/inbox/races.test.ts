/** Concurrent actions of people, agents and clocks on one question. It closes once, with one result for everyone. */
import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import { consoleOrigin } from '../../../functions/src/config.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Store } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { mailPath, preferencesPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { Answers } from '../../../functions/src/toolsets/inbox/rules/answering.ts';
import { fcmPushService, localMessagingApp } from '../../../functions/src/vendors/fcm/pushService.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { LocalFcm } from '../../support/fcm/server.ts';
import { answer as answerOf, call } from '../coordination/calls.ts';
import { InboxFixture } from './fixture.ts';

const ASK = { question: 'Which color?', kind: 'text' };

describe('concurrent calls on one question', () => {
  let fixture: InboxFixture;
  let agent: Principal;
  let ada: Principal;

  beforeEach(async () => {
    fixture = new InboxFixture();
    await fixture.open();
    agent = await fixture.agentOf('ada', 'worker');
    ada = await fixture.person('ada');
  });

  const ask = async (more = {}) => String((await fixture.inbox(agent, 'ask', { ...ASK, ...more }))['request_id']);

  const stored = async (id: string) => {
    const { value } = (await fixture.app.inbox.ports.requests.find(id)) ?? {};
    return value ?? assert.fail('request not found');
  };

  it('store one of eleven answers of agents, and return it to the other callers', async () => {
    const names = Array.from({ length: 11 }, (_, number) => `helper-${number}`);
    await fixture.lets('ada', names);
    const request_id = await ask();
    const given = await Promise.all(
      names.map((agent_id) =>
        call(
          fixture.at({ app: fixture.anotherInstance() }),
          'inbox_answer',
          { request_id, answer: `color of ${agent_id}` },
          { ...agent, uid: `agent:${agent_id}`, agent_id },
        ),
      ),
    );
    const taken = given.filter(({ isError }) => !isError);
    assert.equal(taken.length, 1);
    const { answer } = await stored(request_id);
    assert.equal(taken[0]?.structuredContent['answer'], answer);
    for (const { structuredContent } of given.filter(({ isError }) => isError)) {
      const { reason, answer: reported } = Object(structuredContent['error']).data;
      assert.deepEqual([reason, reported], ['ALREADY_ANSWERED', answer]);
    }
  });

  it('either change the answer before its asker receives it, or keep the received answer', async () => {
    for (let times = 0; times < 5; times++) {
      const request_id = await ask();
      await fixture.inbox(ada, 'answer', { request_id, answer: 'red' });
      const [changed, seen] = await Promise.all([
        call(fixture.at({ app: fixture.anotherInstance() }), 'inbox_answer', { request_id, answer: 'blue' }, ada),
        fixture.inbox(agent, 'wait', { request_id, wait_ms: 0 }, fixture.anotherInstance()),
      ]);
      const { answer } = await stored(request_id);
      assert.deepEqual([answer, seen['answer']], changed.isError ? ['red', 'red'] : ['blue', 'blue']);
    }
  });

  it('either answer or withdraw the question, never both', async () => {
    for (let times = 0; times < 5; times++) {
      const request_id = await ask();
      const [answered, withdrawn] = await Promise.all([
        call(fixture.at({ app: fixture.anotherInstance() }), 'inbox_answer', { request_id, answer: 'red' }, ada),
        call(fixture.at({ app: fixture.anotherInstance() }), 'inbox_withdraw', { request_id }, agent),
      ]);
      assert.notEqual(answered.isError, withdrawn.isError);
      assert.equal((await stored(request_id)).state, withdrawn.isError ? 'answered' : 'withdrawn');
    }
  });

  describe('that is about to expire', () => {
    let early: Composition;
    let request_id: string;

    /** Creates an instance whose clock is a millisecond behind. For this instance, the question has not expired. */
    beforeEach(async () => {
      request_id = await ask({ default: 'grey' });
      fixture.pass(86_400);
      const clock = { now: () => new Date(fixture.now.getTime() - 1) };
      early = compose(externalServicesOf({ clock }));
    });

    /** Stores an answer at the instance whose clock is behind, and runs `beforeCommit` before the commit. */
    const answering = (beforeCommit: () => Promise<unknown>) => {
      const { store } = early.kernel;
      const interrupted: Store<Change> = {
        commit: async (...commit) => {
          await beforeCommit();
          await store.commit(...commit);
        },
      };
      const answers = new Answers({
        ...early.inbox.ports,
        store: interrupted,
        liveness: early.services.liveness,
        agentsMayAnswer: async () => [],
      });
      return answers.answer(ada, request_id, { answer: 'red' }, () => undefined);
    };

    it('reject an answer whose commit follows the expiry of the question', async () => {
      await assert.rejects(
        answering(() => fixture.sweepRequests()),
        /it expired/,
      );
      const { state, answer } = await stored(request_id);
      assert.deepEqual([state, answer], ['expired', 'grey']);
    });

    it('keep an answer whose commit precedes the expiry of the question', async () => {
      await answering(async () => undefined);
      await fixture.sweepRequests();
      const seen = await fixture.inbox(agent, 'wait', { request_id, wait_ms: 0 });
      assert.deepEqual([seen['state'], seen['answer']], ['answered', 'red']);
    });

    it('return the stored outcome to all readers and to the answering person', async () => {
      const others = Array.from({ length: 4 }, () =>
        fixture.inbox(agent, 'wait', { request_id, wait_ms: 0 }, fixture.anotherInstance()),
      );
      const [given, , ...seen] = await Promise.all([
        call(fixture.at({ app: early }), 'inbox_answer', { request_id, answer: 'red' }, ada),
        fixture.sweepRequests(),
        ...others,
      ]);
      const { state, answer } = await stored(request_id);
      assert.deepEqual([state, answer], given.isError ? ['expired', 'grey'] : ['answered', 'red']);
      for (const one of seen) assert.deepEqual([one['state'], one['answer']], [state, answer]);
    });

    it('reject an answer after the expiry, and run no approved call', async () => {
      const late = await fixture.refusal(ada, 'inbox_answer', { request_id, answer: 'red' });
      assert.equal(late.reason, 'NOT_OPEN');
      assert.equal(await fixture.app.services.approvedCalls.execute(request_id), 'nothing');
    });
  });

  it('reject an agent that may no longer answer for the person', async () => {
    const helper: Principal = { ...agent, uid: 'agent:helper', agent_id: 'helper' };
    await fixture.lets('ada', ['helper']);
    await fixture.inbox(helper, 'answer', { request_id: await ask(), answer: 'red' });
    await fixture.lets('ada', []);
    const given = { request_id: await ask(), answer: 'red' };
    assert.equal((await fixture.refusal(helper, 'inbox_answer', given)).reason, 'NOT_A_PERSON');
    await fixture.lets('ben', ['helper']);
    const ofBen = { request_id: await ask({ to: fixture.id('ben') }), answer: 'red' };
    assert.equal((await fixture.refusal(helper, 'inbox_answer', ofBen)).reason, 'NOT_ASKED', 'Ben was asked');
  });
});

describe("a question's notification", () => {
  const fcm = new LocalFcm();
  before(() => fcm.start());
  after(() => fcm.stop());

  it("reaches the person's list, devices and email once each, even if its event is repeated", async () => {
    const fixture = new InboxFixture({ push: fcmPushService(() => localMessagingApp(fcm.url)) });
    await fixture.open();
    const [agent, uid] = [await fixture.agentOf('ada', 'worker'), fixture.id('ada')];
    await firestore().doc(preferencesPath(uid)).set({ email: true });
    const database = await realtimeDatabase();
    const tokens = ['phone', 'laptop'].map((name) => `${name}-${uid}`);
    for (const token of tokens) await database.ref(`devices/${uid}/${token}`).set({ token, registered_at: 1 });
    const asked = await fixture.inbox(agent, 'ask', ASK);
    const eventId = `question-${asked['request_id']}`;
    const event = (await fixture.app.todo.ports.taskHistory.find(eventId)) ?? assert.fail('no notification');
    const deliver = (app = fixture.app) => app.services.consumers.reminders.act(event);
    // Concurrent deliveries after the first fail and are retried, because the first delivery could have crashed.
    await Promise.allSettled([deliver(), deliver(fixture.anotherInstance()), deliver(fixture.anotherInstance())]);
    await deliver();
    await deliver(fixture.anotherInstance());
    const found = tokens.map((token) => fcm.of(token).length);
    assert.deepEqual(found, [1, 1]);
    const pushed = fcm.of(String(tokens[0]))[0];
    assert.equal(pushed?.data['request_id'], asked['request_id']);
    const link = new URL(pushed?.webpush.fcmOptions?.link ?? '');
    assert.deepEqual(
      [link.origin, link.pathname, link.searchParams.get('request'), link.searchParams.get('workspace')],
      [consoleOrigin(), '/', asked['request_id'], fixture.workspace],
    );
    const listed = (await database.ref(`notifications/${uid}`).get()).val();
    assert.deepEqual(Object.keys(Object(listed)), [eventId]);
    assert.ok((await firestore().doc(mailPath(eventId)).get()).exists);
    const mails = await firestore().collection('mail').where('to', 'array-contains', fixture.email('ada')).get();
    assert.equal(mails.size, 1);
  });
});

describe('a task with an open question', () => {
  it('shows whom it waits for, keeps its lease until the answer, and then has a normal lease', async () => {
    const fixture = new InboxFixture();
    await fixture.open();
    const agent = await fixture.agentOf('ada', 'worker');
    const agent_id = String(agent.agent_id);
    const ask = (tool: string, args = {}) => answerOf(fixture, tool, args, agent);
    await ask('coordination_register_agent', { agent_id, role: 'worker' });
    const [{ id: task_id } = assert.fail()] = await fixture.create({});
    await ask('coordination_claim_task', { agent_id, lease_seconds: 60 });
    const { request_id } = await fixture.inbox(agent, 'ask', { ...ASK, task_id });
    const name = `ada of ${fixture.id('ada')}`;
    fixture.pass(3600);
    // The heartbeat renews the lease. When the lease has expired, the sweep renews it again.
    await ask('coordination_heartbeat', { agent_id });
    fixture.pass(7200);
    await fixture.sweep();
    for (const [tool, args] of [
      ['coordination_get_all_tasks', {}],
      ['system_getTaskQueue', { includeAssigned: true }],
    ] as const)
      assert.ok(JSON.stringify(await ask(tool, args)).includes(name), tool);
    const taskOf = async () => (await fixture.app.coordination.ports.tasks.find(task_id))?.value;
    assert.equal((await taskOf())?.claim?.claimed_by, agent_id);
    await fixture.inbox(await fixture.person('ada'), 'answer', { request_id: String(request_id), answer: 'red' });
    assert.equal((await taskOf())?.waiting_for, undefined);
    await ask('coordination_heartbeat', { agent_id });
    fixture.pass(7200);
    await fixture.sweep();
    assert.equal((await taskOf())?.status, 'available', 'its lease expires like any other');
  });
});
