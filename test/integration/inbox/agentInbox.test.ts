/** The resource inbox://agents/{agentId}, for which idle agents are woken. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { agentOf } from '../../support/principals.ts';
import { answer } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

describe("an agent's inbox", () => {
  let team: Team;
  let ann: string;

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  const inboxes = () => team.app.services.inbox.agentInboxes;
  const own = () => team.principal('ann');
  const read = async (principal = own(), name = ann) => {
    const { messages, requests, tasks } = await inboxes().read(principal, team.workspace, name);
    return {
      messages: messages.map(({ text }) => text),
      requests: requests.map(({ id }) => id),
      tasks: tasks.map(({ id }) => id),
    };
  };
  const send = (message: string) => answer(team, 'coordination_message_agent', { agent_id: ann, message });

  it('contains unread messages until the agent confirms them', async () => {
    const { message_id } = await send('One');
    assert.deepEqual((await read()).messages, ['One']);
    await answer(team, 'coordination_heartbeat', { agent_id: ann, read_until: message_id }, own());
    assert.deepEqual((await read()).messages, []);
  });

  it('contains claimable tasks only while the agent is a worker that holds no task', async () => {
    const { id } = await team.createOne();
    await team.createOne({ required_capabilities: ['rust'] });
    assert.deepEqual((await read()).tasks, [id]);
    await answer(
      team,
      'coordination_register_agent',
      { agent_id: ann, role: 'leader' },
      team.principal('ann', 'leader'),
    );
    assert.deepEqual((await read()).tasks, []);
    await answer(team, 'coordination_register_agent', { agent_id: ann, role: 'worker' }, own());
    await team.createOne();
    await team.claim(ann);
    assert.deepEqual((await read()).tasks, []);
  });

  it('contains closed questions of the agent until it receives the answer, for a day', async () => {
    const person: Principal = {
      uid: own().owner_uid,
      kind: 'person',
      owner_uid: own().owner_uid,
      maxRole: 'admin',
      owner: own().owner,
    };
    const ask = async () => {
      const { request_id } = await answer(team, 'inbox_ask', { kind: 'text', question: 'Why?' }, own());
      assert.deepEqual((await read()).requests, []);
      await answer(team, 'inbox_answer', { request_id, answer: 'So' }, person);
      assert.deepEqual((await read()).requests, [request_id]);
      return request_id;
    };
    await answer(team, 'inbox_wait', { request_id: await ask() }, own());
    assert.deepEqual((await read()).requests, []);
    await ask();
    team.pass(86_401);
    assert.deepEqual((await read()).requests, []);
  });

  it('is hidden from other agents and from other owners', async () => {
    const stranger = agentOf('eve', 'eve', 'leader');
    for (const principal of [stranger, team.principal('bob')])
      await assert.rejects(read(principal), ({ code }) => code === 'NOT_FOUND');
    await assert.rejects(read(own(), 'unknown'), ({ code }) => code === 'NOT_FOUND');
    await assert.rejects(inboxes().watch(stranger, team.workspace, ann, AbortSignal.abort()));
    assert.deepEqual((await read(team.leader)).messages, []);
  });

  it('reports each kind of change to a watcher', async () => {
    const end = new AbortController();
    const changes = (await inboxes().watch(own(), team.workspace, ann, end.signal))[Symbol.asyncIterator]();
    const until = async (what: string, holds: () => Promise<boolean>) => {
      while (!(await holds())) assert.equal((await changes.next()).done, false, what);
    };
    await send('Hello');
    await until('a message', async () => (await read()).messages.length === 1);
    const { id } = await team.createOne();
    await until('a task', async () => (await read()).tasks.includes(id));
    end.abort();
    while (!(await changes.next()).done);
  });
});
