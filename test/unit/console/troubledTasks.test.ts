import assert from 'node:assert/strict';
import { troubledTasks } from '../../../console/src/screens/needsYou/troubledTasks.ts';
import { cut, idsOf, NOW, task, VERIFYING, whole } from './samples.ts';

const AT = NOW.getTime();

function held(id: string, minutesLeft: number) {
  const lease_expires_at = new Date(AT + minutesLeft * 60_000);
  return task({ id, status: 'claimed', claimed_by: 'w', lease_seconds: 600, lease_expires_at });
}

describe('list of held-up tasks', () => {
  it('contains tasks without a budget, check, lease or verdict, and no tasks that continue', () => {
    const certain = whole([task({ id: 'poor', budget_wait: 'workspace:default' })]);
    const expiring = whole([held('gone', -11), held('late', -1), held('fine', 5)]);
    const handedIn = (id: string, hours: number) =>
      task({ ...VERIFYING, id, proof: { ...VERIFYING.proof, since: new Date(AT - hours * 3_600_000) } });
    const verifying = cut([handedIn('unproven', 13), handedIn('recent', 11)]);
    const list = troubledTasks({ certain, expiring, verifying }, AT);
    assert.deepEqual(idsOf(list), ['poor', 'gone', 'unproven']);
    assert.equal(list.count, 3, 'the rest of the results were handed in later');
  });

  it('is complete if the last of the loaded tasks, ordered by lease end, has an unexpired lease', () => {
    const expiring = cut([held('gone', -11), held('fine', 5)]);
    const list = troubledTasks({ certain: whole([]), expiring, verifying: whole([]) }, AT);
    assert.equal(list.count, 1);
    assert.equal(list.more, undefined);
  });

  it('may be incomplete if the leases of all loaded tasks have expired', () => {
    let loaded = 0;
    const expiring = cut([held('gone', -12), held('gone too', -11)], undefined, () => loaded++);
    const list = troubledTasks({ certain: whole([]), expiring, verifying: whole([]) }, AT);
    assert.equal(list.count, undefined);
    list.more?.();
    assert.equal(loaded, 1);
  });
});
