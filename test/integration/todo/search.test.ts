/** Search of to-dos, compared with a scan of all to-dos. */
import assert from 'node:assert/strict';
import { matchesWords, searchWords } from '../../../functions/src/kernel/textSearch.ts';
import type { Todo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { crowdTodo, crowdTodos } from './crowd.ts';

const COUNT = 60;

const QUERIES = [
  'budget',
  'MEET',
  'budget meeting',
  'meeting budget',
  'the budget',
  'quarter call plumber',
  'budget meeting the',
  'budgets',
  'meeting 1',
];

describe('search_tasks', function () {
  this.timeout(600_000); // The tests take seconds on an idle machine, but much longer on a busy one.

  const [team, other] = [new Team(), new Team()];
  let todos: readonly Todo[] = [];

  before(async () => {
    todos = await crowdTodos(team, COUNT);
    await crowdTodos(other, 10);
  });

  /** Searches with this page size. Returns every page, and the total that each page states. */
  async function pages(query: string, limit: number) {
    const found: string[][] = [];
    const totals: unknown[] = [];
    let cursor: unknown;
    do {
      const asked = { query, limit, ...(typeof cursor === 'string' && { cursor }) };
      const { tasks, total, next_cursor, truncated } = await answer(team, 'todo_search_tasks', asked);
      assert.ok(Array.isArray(tasks));
      found.push(tasks.map((task) => idOf(task)));
      totals.push(total);
      assert.equal(truncated, next_cursor !== undefined);
      cursor = next_cursor;
    } while (cursor !== undefined);
    return { found, totals };
  }

  for (const query of QUERIES)
    it(`returns each match of "${query}" once for every page size, with the total`, async () => {
      const words = searchWords(query);
      const isInTitle = ({ title }: Todo) => matchesWords(title, words);
      const matching = todos.filter(({ title, description = '' }) => matchesWords(`${title}\n${description}`, words));
      for (const limit of [1, 7, 100]) {
        const { found, totals } = await pages(query, limit);
        const ids = found.flat();
        assert.deepEqual(ids.toSorted(), matching.map(({ id }) => id).toSorted());
        assert.deepEqual([...new Set(totals)], [matching.length]);
        const titled = new Set(matching.filter(isInTitle).map(({ id }) => id));
        assert.deepEqual(
          ids.slice(0, titled.size).toSorted(),
          [...titled].toSorted(),
          'to-dos with the words in their title come first',
        );
        for (const page of found) assert.equal(page.length <= limit, true);
      }
    });

  it('returns newer to-dos before older to-dos', async () => {
    const { found } = await pages('review', 100);
    const numbers = found.flat().map((id) => Number(id.split('-').at(-1)));
    assert.ok(numbers.length > 5);
    const expected = numbers.toSorted((a, b) => a - b);
    assert.deepEqual(numbers, expected);
  });

  it('compares only the first 15 letters of each word', async () => {
    const long = { ...crowdTodo(team, COUNT), title: 'Internationalisation' };
    await team.app.kernel.store.commit([{ kind: 'createTodo', todo: long }]);
    for (const query of ['internationalisation', 'internationalism']) {
      const { found, totals } = await pages(query, 10);
      assert.deepEqual([found, totals], [[[long.id]], [1]]);
    }
  });

  const WRITTEN = [
    ['明日の会議を準備する', '会議', '会', '明日の会議', '予算 準備'],
    ['购买牛奶和面包', '牛奶', '面包'],
    ['회의실예약하기', '예약'],
    ['ประชุมพรุ่งนี้ตอนเช้า', 'พรุ่งนี้'],
    ['Đà Nẵng booking', 'da nang'],
    ['Straße kehren', 'STRASSE'],
    [
      '長い題名でも一文字も漏らさずに検索できることを確かめるための予定',
      '題名でも一文字も漏らさずに検索できることを確かめる',
    ],
  ] as const;

  for (const [title, ...queries] of WRITTEN)
    it(`finds words in "${title}"`, async () => {
      const id = `${team.workspace}-${title}`;
      const todo = { ...crowdTodo(team, COUNT), id, title, description: '予算' };
      await team.app.kernel.store.commit([{ kind: 'createTodo', todo }]);
      for (const query of queries) {
        const { found, totals } = await pages(query, 10);
        assert.deepEqual([found, totals], [[[id]], [1]], query);
      }
    });

  it('treats letters that differ in a diacritic mark as different', async () => {
    const id = `${team.workspace}-ばな`;
    const todo = { ...crowdTodo(team, COUNT), id, title: 'ばなを買う' };
    await team.app.kernel.store.commit([{ kind: 'createTodo', todo }]);
    assert.deepEqual((await pages('ばな', 10)).totals, [1]);
    assert.deepEqual((await pages('はな', 10)).totals, [0]);
  });

  it('rejects a query without words or with more than 10 words', async () => {
    for (const query of ['?!', 'a b c d e f g h i j k']) {
      const { structuredContent, isError } = await call(team, 'todo_search_tasks', { query });
      assert.equal(isError, true);
      assert.match(JSON.stringify(structuredContent), /"code":"VALIDATION_ERROR".*word/);
    }
    await answer(team, 'todo_search_tasks', { query: 'a b c d e f g h i j' });
  });

  it("returns only the caller's to-dos if the cursor belongs to another owner", async () => {
    const asked = { query: 'budget', limit: 1 };
    const { next_cursor } = await answer(team, 'todo_search_tasks', asked);
    const [question] = JSON.parse(Buffer.from(String(next_cursor), 'base64url').toString());
    let found = 0;
    for (const order of [[], [0], [1], [2], [99], [-1]]) {
      const cursor = Buffer.from(JSON.stringify([question, order, '0'])).toString('base64url');
      const { tasks } = await answer(other, 'todo_search_tasks', { ...asked, cursor, limit: 100 });
      assert.ok(Array.isArray(tasks));
      for (const task of tasks) assert.ok(idOf(task).startsWith(other.workspace));
      found += tasks.length;
    }
    assert.ok(found > 0);
  });
});

function idOf(task: unknown): string {
  assert.ok(typeof task === 'object' && task !== null && 'id' in task);
  return String(task.id);
}
