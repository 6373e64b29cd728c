import assert from 'node:assert/strict';
import type { OpenParts } from '../../../console/src/live/states.ts';
import { OPEN_COLUMNS, openColumn } from '../../../console/src/screens/tasks/columns.ts';
import { cut, idsOf, task, whole } from './samples.ts';

const counts = { state: 'live', value: { available: 640, claimed: 1, in_progress: 300 } } as const;

const PARTS: OpenParts = {
  held: whole([task({ id: 'held', status: 'claimed', claimed_by: 'w' })]),
  claimable: cut([task({ id: 'first' })], 600),
  blocked: cut(
    [task({ id: 'blocked', blockers: 2 }), task({ id: 'old', failed_dependencies: ['x'], blockers: 1 })],
    40,
  ),
};

const STUCK = cut([task({ id: 'stuck', blockers: 1, stuck: true })], 10);

describe('task board of the console', () => {
  it('shows held tasks, no matter how many tasks are available', () => {
    const claimed = openColumn('claimed', PARTS, STUCK, counts);
    assert.deepEqual(idsOf(claimed), ['held']);
    assert.equal(claimed.count, 1);
    assert.equal(claimed.more, undefined);
  });

  it("shows the server's count and loads more tasks if a column is truncated", () => {
    const columns = OPEN_COLUMNS.map((state) => [state, openColumn(state, PARTS, STUCK, counts).count]);
    assert.deepEqual(Object.fromEntries(columns), {
      never: 10,
      blocked: 30,
      available: 600,
      claimed: 1,
      in_progress: 0,
      waiting: 0,
    });
    assert.notEqual(openColumn('available', PARTS, STUCK, counts).more, undefined);
    assert.notEqual(openColumn('never', PARTS, STUCK, counts).more, undefined);
  });

  it("shows the server's count of held tasks if some held tasks are not loaded", () => {
    const parts = { ...PARTS, held: cut([task({ id: 'held', status: 'in_progress' })], 301) };
    assert.equal(openColumn('in_progress', parts, STUCK, counts).count, 300);
    assert.equal(openColumn('in_progress', parts, STUCK, { state: 'loading' }).count, undefined);
  });

  it('lists each stuck task once, even if only its dependencies show that it is stuck', () => {
    assert.deepEqual(idsOf(openColumn('never', PARTS, STUCK, counts)), ['stuck', 'old']);
    assert.deepEqual(idsOf(openColumn('blocked', PARTS, STUCK, counts)), ['blocked']);
  });
});
