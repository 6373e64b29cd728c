import assert from 'node:assert/strict';
import { todoDocument } from '../../../console/src/live/documents.ts';
import { days, moved } from '../../../console/src/screens/todos/days.ts';
import { duration } from '../../../console/ui/format.ts';
import { withTimes } from '../../stored/documents.ts';

/** Noon in the local time zone of the machine. */
const NOW = new Date(2026, 10, 24, 12);

function todo(title: string, due: Date | null, priority = 'MEDIUM') {
  const fields = {
    id: title,
    owner_uid: 'ada',
    title,
    description: null,
    due_date: due,
    priority,
    tags: [],
    completed: false,
    completed_at: null,
    created_at: NOW,
    recurring_task_id: null,
    occurs_on: null,
  };
  return todoDocument.parse(withTimes(fields));
}

const at = (day: number, hour: number): Date => new Date(2026, 10, day, hour);

const ALL = [
  todo('next month', at(54, 9)),
  todo('tonight', at(24, 20)),
  todo('some day', null, 'LOW'),
  todo('yesterday', at(23, 9)),
  todo('in three days', at(27, 9)),
  todo('tonight, urgent', at(24, 20), 'HIGH'),
  todo('some day soon', null, 'HIGH'),
];

const titles = (view: 'today' | 'week' | 'all') =>
  days(ALL, view, NOW).map(({ title, todos }) => [title, ...todos.map((one) => one.title)]);

describe('to-dos in the console', () => {
  it('appear under their due day, with overdue ones first and undated ones last', () => {
    assert.deepEqual(titles('today'), [
      ['Overdue', 'yesterday'],
      ['Today', 'tonight, urgent', 'tonight'],
    ]);
    assert.deepEqual(titles('week').flat().includes('in three days'), true);
    assert.deepEqual(titles('week').flat().includes('next month'), false);
    assert.deepEqual(titles('all').at(-1), ['No date', 'some day soon', 'some day']);
  });

  it('may be incomplete under the last loaded day and in the undated group', () => {
    const cutDays = (view: 'today' | 'all', todos = ALL) =>
      days(todos, view, NOW, { dated: true, undated: true }).flatMap(({ title, isTruncated }) =>
        isTruncated ? [title] : [],
      );
    assert.deepEqual(cutDays('today'), [], 'a later to-do is loaded');
    const untilTonight = ALL.filter(({ due_date: due }) => due === null || due < at(25, 0));
    assert.deepEqual(cutDays('today', untilTonight), ['Today']);
    const [last, undated] = cutDays('all');
    assert.match(last ?? '', /Dec/);
    assert.equal(undated, 'No date');
    const truncated = days(ALL, 'all', NOW).filter(({ isTruncated }) => isTruncated);
    assert.deepEqual(truncated, []);
  });

  it('keep their time of day if they are moved to another day', () => {
    assert.deepEqual(moved(at(24, 20), at(27, 0)), at(27, 20));
    assert.deepEqual(moved(null, at(27, 0)), at(27, 9));
  });

  it('show durations in words', () => {
    const words = [-5, 45_000, 720_000, 12_000_000, 3_600_000, 90_000_000, 200_000_000].map(duration);
    assert.deepEqual(words, ['0 s', '45 s', '12 min', '3 h 20 min', '1 h', '1 day', '2 days']);
  });
});
