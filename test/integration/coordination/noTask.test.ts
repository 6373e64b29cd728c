/** Reasons that claim_task returns if no task is claimable, and the number of blocked tasks in get_status. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { answer } from './calls.ts';
import { Team } from './team.ts';

const none = z.strictObject({
  success: z.literal(false),
  message: z.literal('No available tasks with satisfied dependencies'),
  reason: z.string(),
  explanation: z.string(),
});

describe('claim_task without a claimable task', () => {
  let team: Team;
  let ann: string;

  /** Advances the clock, so that cached counts expire, and returns the reason for which ann gets no task. */
  async function why(): Promise<string> {
    team.pass(2);
    const { reason, explanation } = none.parse(await answer(team, 'coordination_claim_task', { agent_id: ann }));
    return `${reason}: ${explanation}`;
  }

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann', ['rust']);
  });

  it('reports that the workspace has no goal', async () =>
    assert.match(await why(), /^no_goal: .*has no goal.*init_coordination/));

  it('reports the reason "none" if all tasks are held by agents or closed', async () => {
    const bob = await team.join('bob');
    await team.createOne();
    await team.claim(bob);
    assert.match(await why(), /^none: /);
  });

  it('reports which tasks block the other tasks, and who holds them', async () => {
    const bob = await team.join('bob');
    const [first, second, third] = await team.create(
      {},
      { dependencies: ['task-1'] },
      { dependencies: ['task-1', 'task-2'] },
    );
    await team.claim(bob);
    const output = await why();
    assert.match(output, /^all_blocked: 2 tasks are blocked: /);
    assert.ok(output.includes(`"${second?.id}" waits for "${first?.id}" (claimed, held by "${bob}")`), output);
    assert.ok(output.includes(`"${third?.id}" waits for "${first?.id}"`), output);
    const status = await answer(team, 'coordination_get_status', {});
    assert.equal(status['blocked_tasks'], 2);
    await team.fail(bob, String(first?.id));
    await team.sweepStuck();
    assert.ok((await why()).includes(`"${second?.id}" can never start, because "${first?.id}" failed`));
  });

  it('reports the capabilities that the available tasks require', async () => {
    const { id } = await team.createOne({ required_capabilities: ['rust', 'cuda'] });
    const output = await why();
    assert.match(output, /^capabilities: 1 task is available, but you lack the required capabilities: /);
    assert.ok(output.includes(`"${id}" requires rust, cuda`) && output.includes('register_agent'), output);
    assert.equal((await answer(team, 'coordination_get_status', {}))['blocked_tasks'], 0);
  });

  it('reports when a failed task can be claimed again', async () => {
    const { id } = await team.createOne();
    await team.claim(ann);
    await team.fail(ann, id, true);
    const output = await why();
    assert.match(output, /^retry_later: .* can be claimed again at 2040-01-01T00:00:30.000Z, in 28 s\.$/);
    assert.equal((await answer(team, 'coordination_get_status', {}))['blocked_tasks'], 1);
    team.pass(30);
    assert.equal(await team.claim(ann), id);
  });
});
