/** Claims that wait for a task, and claims that also start it. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { tokensOf } from '../../support/tokens.ts';
import { answer } from './calls.ts';
import { Team, unkeyed } from './team.ts';

/** Maximum tokens of the responses with which a worker does a task, without the texts of the task itself. */
const MAX_TOKENS = 200;

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

  describe('with start', () => {
    it('also starts the task, in the commit of the claim', async () => {
      const { id } = await team.createOne();
      const { id: other } = await team.createOne();
      assert.deepEqual(shown(await claim({ start: true })), [id, 'in_progress', undefined]);
      const stored = (await team.task(id)).claim;
      assert.deepEqual([stored?.started_at, stored?.claimed_at], [team.now, team.now]);
      assert.deepEqual(await team.counts(), { available: 1, in_progress: 1 });
      await team.complete(ann, id);
      assert.deepEqual(shown(await claim({ start: true })), [other, 'in_progress', undefined]);
    });

    it('returns a started task again unless the agent lists it', async () => {
      const [first, second] = await team.create({}, {});
      await team.allow(ann, 2);
      await claim({ start: true });
      assert.deepEqual(shown(await claim({ start: true })), [first?.id, 'in_progress', true]);
      const beside = await claim({ start: true, in_hand: [first?.id ?? ''] });
      assert.deepEqual(shown(beside), [second?.id, 'in_progress', undefined]);
    });

    it('starts a task that the agent had claimed without starting it', async () => {
      const { id } = await team.createOne();
      await claim();
      assert.deepEqual(shown(await claim({ start: true })), [id, 'in_progress', true]);
      assert.deepEqual(await team.counts(), { in_progress: 1 });
    });

    it(`needs at most ${MAX_TOKENS} tokens for the responses of a task from claim to completion`, async () => {
      const { id } = await team.createOne({ description: 'Write it' });
      const claimed = await claim({ start: true });
      const completed = await answer(team, 'coordination_complete_task', { agent_id: ann, task_id: id, output: 'Ok' });
      const tokens = [claimed, completed].reduce((sum, one) => sum + tokensOf(JSON.stringify(one)), 0);
      assert.ok(tokens <= MAX_TOKENS, `${tokens} tokens`);
    });
  });

  describe('with wait_seconds', () => {
    it('returns a task as soon as its last dependency is done', async () => {
      const { id: first } = await team.createOne();
      const { id: second } = await team.createOne({ dependencies: [first] });
      const bob = await team.join('bob');
      await team.claim(bob);
      const waiting = claim({ wait_seconds: 50, start: true });
      await team.complete(bob, first);
      assert.deepEqual(shown(await waiting), [second, 'in_progress', undefined]);
    });

    it('returns a task that is created in a workspace without a session', async () => {
      const waiting = claim({ wait_seconds: 50 });
      const { id } = await team.createOne();
      assert.deepEqual(shown(await waiting), [id, 'claimed', undefined]);
    });

    it('stores the reason for repeated calls if no task becomes claimable', async () => {
      await team.claim(await team.join('bob'));
      const args = { wait_seconds: 1, idempotency_key: 'one wait' };
      const none = await claim(args);
      assert.deepEqual(shown(none), [undefined, undefined, 'no_goal']);
      await team.createOne();
      assert.deepEqual(await claim(args), none);
    });

    it('claims nothing after the client has disconnected', async () => {
      const client = new AbortController();
      const poll = { disconnectSignal: () => client.signal, trackWait: <T>(wait: Promise<T>) => wait };
      const request = { workspace: team.workspace, agentId: ann, leaseSeconds: 60 };
      const waiting = team.app.services.taskClaims.claimOrWait(request, 50_000, poll, unkeyed);
      client.abort();
      const { id } = await team.createOne();
      const outcome = await waiting;
      const isClaimed = (await team.task(id)).status === 'claimed';
      assert.equal(outcome.kind === 'none', !isClaimed, 'a task is only claimed if the call returns it');
    });
  });
});
