import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { archivedSessionPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { Team } from '../coordination/team.ts';
import { OrchestrationFixture, unkeyed } from './fixture.ts';

const BY_HAND = { name: 'by-hand', steps: [{ name: 'work', agent: 'network' }] };

describe('a run whose task is in a session that is then archived', () => {
  const fixture = new OrchestrationFixture();
  const { runs } = fixture.app.services.orchestration;
  before(() => fixture.start());
  after(() => fixture.stop());

  let team: Team;
  beforeEach(async () => {
    team = new Team();
    await initialize('One');
  });

  const initialize = (goal: string) => team.app.services.coordination.initialize(team.workspace, { goal }, unkeyed);

  const sweep = ({ services } = team.app) => services.coordination.archives.sweepJob.run(sweepContextAt(team.now));

  /** Starts runs that wait for a live agent, and returns them with their tasks. */
  async function waiting(count: number): Promise<{ runId: string; taskId: string }[]> {
    return Promise.all(
      Array.from({ length: count }, async () => {
        const request = fixture.request(BY_HAND);
        const { runId } = await runs.start(fixture.principal, team.workspace, request, unkeyed);
        await fixture.until(runId, ({ status }) => status === 'waiting');
        return { runId, taskId: `${runId}-work-1` };
      }),
    );
  }

  async function waitingOne() {
    const [only] = await waiting(1);
    assert.ok(only);
    return only;
  }

  async function assertFailed({ runId, taskId }: { runId: string; taskId: string }): Promise<void> {
    assert.equal((await team.task(taskId)).status, 'cancelled');
    await runs.taskChanged(taskId);
    const { run, steps } = await fixture.ended(runId);
    assert.deepEqual([run.status, run.failure?.reason], ['failed', 'TASK_FAILED']);
    assert.match(run.failure?.message ?? '', /was cancelled: .*archived/);
    assert.equal(steps[0]?.status, 'failed');
  }

  it('fails immediately, and its failure names the archived session', async () => {
    const one = await waitingOne();
    const other = await team.createOne();
    await initialize('Two');
    await assertFailed(one);
    assert.equal((await team.task(other.id)).status, 'available', 'tasks without a run stay unchanged');
  });

  it('loses its task, whose holder can then claim another task', async () => {
    const one = await waitingOne();
    const ann = await team.join('ann');
    assert.equal(await team.claim(ann), one.taskId);
    await team.start(ann, one.taskId);
    await initialize('Two');
    await assertFailed(one);
    assert.deepEqual((await team.app.access.ports.agents.find(ann))?.value.held, {});
  });

  it('succeeds if the task was completed before the session was archived', async () => {
    const one = await waitingOne();
    const ann = await team.join('ann');
    await team.claim(ann);
    await team.complete(ann, one.taskId);
    await initialize('Two');
    await runs.taskChanged(one.taskId);
    assert.equal((await fixture.ended(one.runId)).run.status, 'succeeded');
  });

  it('fails in the next sweep if the instance that archives the session crashes', async () => {
    const several = await waiting(3);
    const open = await team.app.coordination.ports.sessions.current(team.workspace);
    assert.ok(open);
    const { session, sessionVersion: version } = open;
    await team.app.kernel.store.commit([{ kind: 'archiveSession', session, version, at: team.now }]);
    const archived = firestore().doc(archivedSessionPath(team.workspace, session.id));
    assert.equal((await archived.get()).get('cleared'), false);
    await Promise.all([sweep(), sweep(team.anotherInstance())]);
    for (const one of several) await assertFailed(one);
    assert.equal((await archived.get()).get('cleared'), true);
  });

  it('fails even if it has more tasks than are cancelled in one batch', async () => {
    const one = await waitingOne();
    const crowd = Array.from({ length: 120 }, (_, index) => ({ id: `${one.runId}-${String(index).padStart(3, '0')}` }));
    await team.create(...crowd);
    await initialize('Two');
    for (let sweeps = 0; (await left(one.runId)) > 0 && sweeps < 3; sweeps++) await sweep();
    await assertFailed(one);
  });

  /** Returns the number of the run's open tasks. */
  async function left(runId: string): Promise<number> {
    const tasks = await team.app.coordination.ports.tasks.withIdPrefix(`${runId}-`);
    return tasks.filter(({ value }) => value.status === 'available').length;
  }
});
