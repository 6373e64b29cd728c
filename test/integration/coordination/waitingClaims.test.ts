/** Claims that wait for a task, and claims that also start it. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { tokensOf } from '../../support/tokens.ts';
import { answer } from './calls.ts';
import { Team, unkeyed } from './team.ts';

describe('claim_task', () => {
  let team: Team;
  let ann: string;

  const claim = (args: JsonObject = {}) => answer(team, 'coordination_claim_task', { agent_id: ann, ...args });
  const shown = ({ task, resumed, reason }: JsonObject) => {
    const { id, status } = (task ?? {}) as JsonObject;
    return [id, status, resumed ?? reason];
  };

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  it('with start, also starts the task, in the commit of the claim', async () => {
    const { id } = await team.createOne({ priority: 1 });
    const { id: other } = await team.createOne();
    const claimed = await claim({ start: true });
    assert.deepEqual(shown(claimed), [id, 'in_progress', undefined]);
    const stored = (await team.task(id)).claim;
    assert.deepEqual([stored?.started_at, stored?.claimed_at], [team.now, team.now]);
    assert.deepEqual(await team.counts(), { available: 1, in_progress: 1 });
    const report = { agent_id: ann, task_id: id, output: 'Done' };
    const completed = await answer(team, 'coordination_complete_task', report);
    assert.ok(tokensOf(JSON.stringify([claimed, completed])) <= 200, 'a worker reads few tokens per task');
    assert.deepEqual(shown(await claim({ start: true })), [other, 'in_progress', undefined]);
  });

  it('with start, returns a started task again unless the agent lists it', async () => {
    const [first, second] = await team.create({}, {});
    await team.allow(ann, 2);
    await claim({ start: true });
    assert.deepEqual(shown(await claim({ start: true })), [first?.id, 'in_progress', true]);
    const another = await claim({ start: true, in_hand: [first?.id ?? ''] });
    assert.deepEqual(shown(another), [second?.id, 'in_progress', undefined]);
  });

  it('with start, starts a task that the agent had claimed without starting it', async () => {
    const { id } = await team.createOne();
    await claim();
    assert.deepEqual(shown(await claim({ start: true })), [id, 'in_progress', true]);
    assert.deepEqual(await team.counts(), { in_progress: 1 });
  });

  it('with wait_seconds, returns a task as soon as its last dependency is done', async () => {
    const { id: first } = await team.createOne();
    const { id: second } = await team.createOne({ dependencies: [first] });
    const bob = await team.join('bob');
    await team.claim(bob);
    const waiting = claim({ wait_seconds: 50, start: true });
    await team.complete(bob, first);
    assert.deepEqual(shown(await waiting), [second, 'in_progress', undefined]);
  });

  it('with wait_seconds, stores the reason for repeated calls if no task becomes claimable', async () => {
    await team.claim(await team.join('bob'));
    const args = { wait_seconds: 1, idempotency_key: 'one wait' };
    const none = await claim(args);
    assert.deepEqual(shown(none), [undefined, undefined, 'no_goal']);
    await team.createOne();
    assert.deepEqual(await claim(args), none);
  });

  it('with wait_seconds, claims nothing after the client has disconnected', async () => {
    const client = new AbortController();
    const poll = { disconnectSignal: () => client.signal, trackWait: <T>(wait: Promise<T>) => wait };
    const request = { workspace: team.workspace, agentId: ann, leaseSeconds: 60, by: { uid: `agent:${ann}` } };
    const waiting = team.app.services.taskClaims.claimOrWait(request, 50_000, poll, unkeyed);
    client.abort();
    const { id } = await team.createOne();
    assert.equal((await waiting).kind === 'none', (await team.task(id)).status === 'available');
  });
});
