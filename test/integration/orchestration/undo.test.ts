import assert from 'node:assert/strict';
import { call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { OrchestrationFixture, unkeyed } from './fixture.ts';

const BY_HANDS = {
  name: 'by-hands',
  steps: [
    { name: 'left', agent: 'network', prompt: 'L', parallel: true },
    { name: 'right', agent: 'network', prompt: 'R', parallel: true },
  ],
};

describe('undo of a run', () => {
  const fixture = new OrchestrationFixture();
  const { runs } = fixture.app.services.orchestration;
  before(() => fixture.start());
  after(() => fixture.stop());

  it('cancels the tasks of the run, except claimed tasks, which the response lists', async () => {
    const team = new Team();
    await team.app.services.coordination.initialize(team.workspace, { goal: 'One' }, unkeyed);
    const request = fixture.request(BY_HANDS);
    const { runId } = await runs.start(fixture.principal, team.workspace, request, unkeyed);
    await fixture.until(runId, ({ status }) => status === 'waiting');
    const ann = await team.join('ann');
    const claimed = await team.claim(ann);
    const args = { run_id: runId };
    const { structuredContent } = await call(team.at({ app: fixture.app }), 'system_undo', args, fixture.principal);
    const { undone, refused } = Object(structuredContent);
    const [left, right] = [`${runId}-left-1`, `${runId}-right-1`];
    const open = claimed === left ? right : left;
    assert.deepEqual(undone, [{ kind: 'task', id: open }], JSON.stringify(structuredContent));
    assert.deepEqual(
      refused.map(({ id, why }: { id: string; why: string }) => [id, /changed in the meantime: .*status/.test(why)]),
      [[claimed, true]],
    );
    assert.equal((await team.task(open)).status, 'cancelled');
    assert.equal((await team.task(String(claimed))).status, 'claimed');
  });
});
