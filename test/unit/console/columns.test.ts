import assert from 'node:assert/strict';
import { COLUMNS, columnOf } from '../../../console/src/screens/tasks/columns.ts';
import { cut, idsOf, NOW, task, VERIFYING, whole } from './samples.ts';

const counts = { state: 'live', value: { available: 640, claimed: 1, in_progress: 300 } } as const;

const open = {
  held: whole([task({ id: 'held', status: 'claimed', claimed_by: 'w' })]),
  claimable: cut([task({ id: 'first' })], 600),
  blocked: cut(
    [task({ id: 'blocked', blockers: 2 }), task({ id: 'old', failed_dependencies: ['x'], blockers: 1 })],
    40,
  ),
};

const stuck = cut([task({ id: 'stuck', blockers: 1, stuck: true })], 10);
const ended = (id: string, minute: number) =>
  task({ id, status: id, completed_at: new Date(NOW.getTime() + minute * 60_000) });
const BOARD = {
  open,
  stuck,
  closed: [whole([ended('done', 1), ended('failed', 3)]), cut([ended('cancelled', 2)], 70)],
  counts,
};

describe('task board of the console', () => {
  it('shows held tasks, no matter how many tasks are available', () => {
    const column = columnOf('in_progress', { ...BOARD, counts: { state: 'loading' } });
    assert.deepEqual(idsOf(column), ['held']);
    assert.deepEqual([column.count, column.more], [1, undefined]);
  });

  it("shows the server's count and loads more tasks if a column is truncated", () => {
    const columns = COLUMNS.map((name) => [name, columnOf(name, BOARD).count]);
    assert.deepEqual(Object.fromEntries(columns), {
      blocked: 40,
      available: 600,
      in_progress: 1,
      waiting: 0,
      verifying: 0,
      closed: 72,
    });
    for (const name of ['blocked', 'available', 'closed'] as const)
      assert.notEqual(columnOf(name, BOARD).more, undefined);
  });

  it("shows the server's count of held tasks if some held tasks are not loaded", () => {
    const board = { ...BOARD, open: { ...open, held: cut([task({ id: 'held', status: 'in_progress' })], 301) } };
    assert.equal(columnOf('in_progress', board).count, 301);
    assert.equal(columnOf('in_progress', { ...board, counts: { state: 'loading' } }).count, undefined);
  });

  it('shows verifying tasks in their own column, apart from tasks that wait for their parts', () => {
    const held = whole([task({ id: 'parts', status: 'waiting' }), task({ id: 'proof', ...VERIFYING })]);
    const board = { ...BOARD, open: { ...open, held } };
    assert.deepEqual(idsOf(columnOf('verifying', board)), ['proof']);
    assert.deepEqual(idsOf(columnOf('waiting', board)), ['parts']);
    const cutBoard = { ...BOARD, counts: { state: 'live', value: { waiting: 70 } } as const };
    const part = columnOf('verifying', { ...cutBoard, open: { ...open, held: cut([task(VERIFYING)], 301) } });
    assert.equal(part.count, 70, 'the counter of waiting tasks is an upper bound');
  });

  it('lists each stuck task once, before the blocked ones, and closed tasks by their end', () => {
    assert.deepEqual(idsOf(columnOf('blocked', BOARD)), ['stuck', 'blocked', 'old']);
    assert.deepEqual(idsOf(columnOf('closed', BOARD)), ['failed', 'cancelled', 'done']);
  });
});
