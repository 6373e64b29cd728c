/** Events of closed checks, which arrive twice, late, and at several instances at the same time. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { requireProofInvariants } from '../../eval/invariants.ts';
import { storedIn } from '../../eval/stored.ts';
import { ProvingFixture } from './provingFixture.ts';

describe('the event of a closed check', () => {
  let team: ProvingFixture;

  beforeEach(async () => {
    team = new ProvingFixture();
    await team.open();
  });

  /** Delivers the event of a written check at two instances, twice each. */
  async function deliver(check: string): Promise<void> {
    const written = (await firestore().doc(taskPath(check)).get()).data();
    const instances = [team.app, team.anotherInstance(), team.app, team.anotherInstance()];
    await Promise.all(instances.map(({ services }) => services.settleTask(check, written)));
  }

  it('asks a person once if the check was cancelled', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const check = await team.checkOf(id);
    await team.does('ada', 'cancel_task', { task_id: check.id });
    await deliver(check.id);
    const { questions } = await storedIn(team.workspace);
    assert.deepEqual(
      questions.map(({ proves, state }) => [proves?.task_id, state]),
      [[id, 'open']],
    );
    requireProofInvariants(await storedIn(team.workspace));
    await team.answers('ada', id, 'approve');
    await deliver(check.id);
    assert.equal((await team.task(id)).status, 'done');
  });

  it('applies a verdict once that an earlier release stored without applying it', async () => {
    const id = await team.creates({ review: 'any' });
    const next = await team.creates(undefined, { dependencies: [id] });
    await team.handsIn(id);
    const { id: check, reviews } = await team.checkOf(id);
    const verdict = { status: 'done', completed_at: team.now, reviews: { ...reviews, verdict: 'approve' } };
    await firestore().doc(taskPath(check)).update(verdict);
    await deliver(check);
    assert.deepEqual([(await team.task(id)).status, (await team.task(next)).blockers], ['done', 0]);
    const author = await team.app.access.ports.agents.find(team.name('author'));
    assert.deepEqual([author?.value.tasks_completed, author?.value.held], [1, {}]);
  });

  it('changes nothing if the task has a later check', async () => {
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const first = await team.checkOf(id);
    await team.reviews('request_changes', 'Handle empty input');
    await team.claims('author');
    await team.completes('author', id, 'Handled');
    const second = await team.checkOf(id);
    const before = await team.task(id);
    await deliver(first.id);
    assert.notEqual(second.id, first.id);
    assert.deepEqual(await team.task(id), before);
  });
});

describe('a result that must be proven', () => {
  it('is not proven by an open check that the task no longer waits for', async () => {
    const team = new ProvingFixture();
    await team.open();
    const id = await team.creates({ review: 'any' });
    await team.handsIn(id);
    const { id: check } = await team.checkOf(id);
    await team.claims('reviewer');
    // An instance that could not read the check has begun another one.
    await firestore().doc(taskPath(id)).update({ 'proof.check': 'task-another' });
    const before = await team.task(id);
    const { reviewed } = await team.completes('reviewer', check, 'Fine', { verdict: 'approve' });
    assert.match(Object(reviewed).message, /^Your verdict came too late/);
    assert.deepEqual(await team.task(id), before);
  });
});
