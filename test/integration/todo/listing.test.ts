/** Compares lists of to-dos, for every combination of filters and orders, with a scan of all to-dos. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import {
  PRIORITIES,
  SORT_FIELDS,
  SORT_ORDERS,
  type Todo,
  type TodoSort,
} from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { answer } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { crowdTodos } from './crowd.ts';

const COUNT = 40;
const DAY = 86_400_000;

interface Filter {
  readonly priority?: Todo['priority'];
  readonly completed?: boolean;
  readonly tags?: readonly string[];
  readonly due_after?: string;
  readonly due_before?: string;
}

describe('lists of to-dos', function () {
  this.timeout(600_000); // The tests take seconds on an idle machine, but much longer on a busy one.

  const [team, other] = [new Team(), new Team()];
  let todos: readonly Todo[] = [];

  before(async () => {
    todos = await crowdTodos(team, COUNT);
    await crowdTodos(other, 5);
  });

  const inDays = (days: number) => new Date(team.now.getTime() + days * DAY).toISOString();

  const filters: readonly Filter[] = [undefined, ...PRIORITIES].flatMap((priority) =>
    [undefined, true, false].flatMap((completed) =>
      [undefined, ['EVEN'], ['work', 'odd'], ['even', 'odd']].flatMap((tags) =>
        [{}, { due_after: inDays(0.2) }, { due_after: inDays(0.1), due_before: inDays(1) }].map((range) => ({
          ...(priority && { priority }),
          ...(completed !== undefined && { completed }),
          ...(tags && { tags }),
          ...range,
        })),
      ),
    ),
  );

  const orders = SORT_FIELDS.flatMap((by) => SORT_ORDERS.map((order) => `${by} ${order}`));

  /** Returns the filters to test with this order: all in the nightly run, some of every kind in the default run. */
  function filtersFor(by: TodoSort['by'], order: (typeof SORT_ORDERS)[number]): readonly Filter[] {
    const place = orders.indexOf(`${by} ${order}`);
    return filters.filter((_, index) => IS_NIGHTLY || (index + Math.floor(index / 8)) % orders.length === place);
  }

  for (const sort_by of SORT_FIELDS)
    for (const sort_order of SORT_ORDERS)
      it(`list_tasks returns the to-dos that match a filter, sorted by ${sort_by} ${sort_order}`, async () => {
        for (const filter of filtersFor(sort_by, sort_order)) {
          const expected = todos
            .filter((todo) => passes(todo, filter))
            .toSorted((a, b) => order(a, b, sort_by, sort_order === 'asc' ? 1 : -1))
            .map(({ id }) => id);
          const found = await list({ ...filter, sort_by, sort_order, limit: 100 });
          assert.deepEqual(found, { ids: expected, total: expected.length }, JSON.stringify(filter));
        }
      });

  it('list_tasks returns every to-do exactly once across its pages', async () => {
    for (const filter of [{}, { priority: 'HIGH' }, { tags: ['work'] }, { due_after: inDays(0.1) }])
      for (const sort_by of SORT_FIELDS) {
        const asked = { ...filter, sort_by, limit: 3 };
        const whole = await list({ ...asked, limit: 100 });
        const paged: string[] = [];
        let cursor: unknown;
        do {
          const page = await answer(team, 'todo_list_tasks', {
            ...asked,
            ...(typeof cursor === 'string' && { cursor }),
          });
          assert.equal(page['total'], whole.total);
          assert.equal(page['total_pages'], Math.ceil(Number(whole.total) / 3));
          assert.equal(page['has_previous'], cursor !== undefined);
          paged.push(...idsOf(page));
          cursor = page['next_cursor'];
        } while (cursor !== undefined);
        assert.deepEqual(paged, whole.ids, JSON.stringify(asked));
      }
  });

  async function list(asked: JsonObject): Promise<{ ids: readonly string[]; total: unknown }> {
    const answered = await answer(team, 'todo_list_tasks', asked);
    return { ids: idsOf(answered), total: answered['total'] };
  }
});

function passes(todo: Todo, { priority, completed, tags = [], due_after, due_before }: Filter): boolean {
  const due = todo.due_date?.getTime();
  return (
    (priority === undefined || todo.priority === priority) &&
    (completed === undefined || todo.completed === completed) &&
    tags.every((tag) => todo.tags.includes(tag.toLowerCase())) &&
    (due_after === undefined || (due !== undefined && due >= Date.parse(due_after))) &&
    (due_before === undefined || (due !== undefined && due <= Date.parse(due_before)))
  );
}

/** To-dos without a due date are last in both directions. Equal to-dos are in the sort direction by creation time. */
function order(a: Todo, b: Todo, by: TodoSort['by'], direction: 1 | -1): number {
  const last = direction * Number.MAX_SAFE_INTEGER;
  const value = (todo: Todo): number => {
    if (by === 'priority') return PRIORITIES.indexOf(todo.priority);
    if (by === 'created_at') return todo.created_at.getTime();
    return (by === 'due_date' ? todo.due_date : todo.completed_at)?.getTime() ?? last;
  };
  return direction * (value(a) - value(b) || a.created_at.getTime() - b.created_at.getTime());
}

function idsOf({ tasks }: JsonObject): readonly string[] {
  assert.ok(Array.isArray(tasks));
  return tasks.map((task) => {
    assert.ok(typeof task === 'object' && task !== null && 'id' in task);
    return String(task['id']);
  });
}
