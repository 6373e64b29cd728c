import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { followingOccurrences } from '../../../functions/src/toolsets/todo/rules/recurring/occurrences.ts';
import { FREQUENCIES } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { todoResponse } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { MemoryTodos } from './memory.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const RUNS = defaultOrNightly(120, { night: 10_000 });
const ROUNDS = 3;
const TITLES = ['Standup', 'Water', 'Milk'];
const ZONES = ['America/New_York', 'Asia/Tokyo', 'Europe/Berlin', 'UTC'];

interface Move {
  readonly what: string;
  readonly at: number;
}

type Perform = (home: MemoryTodos, at: number, id: string, recurringId: string) => Promise<unknown>;

const MOVES: Readonly<Record<string, Perform>> = {
  complete: (home, _, id) => home.todos.complete(home.owner, id, home.record),
  'complete again': (home, _, id) => home.todos.complete(home.owner, id, home.record),
  reopen: (home, _, id) => home.todos.reopen(home.owner, id, home.record),
  delete: (home, _, id) => home.todos.delete(home.owner, id, home.record),
  add: (home, at) =>
    home.todos.add(
      home.owner,
      { title: String(TITLES[at % 3]), ...(at % 2 === 0 && { due_date: inDays(home, at + 1) }) },
      home.record,
    ),
  begin: (home, at) =>
    home.recurring.create(
      home.owner,
      {
        title: String(TITLES[at % 3]),
        frequency: String(FREQUENCIES[at % 3]),
        start_date: inDays(home, 1),
        ...(at % 4 === 0 && { end_date: inDays(home, 3) }),
      },
      home.record,
    ),
  title: (home, at, id) => home.todos.edit(home.owner, id, { title: String(TITLES[at % 3]) }, home.record),
  rank: (home, at, id) => home.todos.edit(home.owner, id, { priority: at % 2 === 0 ? 'HIGH' : 'LOW' }, home.record),
  due: (home, at, id) => home.todos.edit(home.owner, id, { due_date: soon(home, at) }, home.record),
  'no due date': (home, _, id) => home.todos.edit(home.owner, id, { due_date: null }, home.record),
  remind: (home, at, id) => home.reminders.set(home.owner, id, soon(home, at), home.record),
  snooze: (home, at, id) => home.reminders.snooze(home.owner, id, (at + 1) * HOUR, home.record),
  unremind: (home, _, id) => home.reminders.delete(home.owner, id, home.record),
  zone: (home, at, _, id) => home.recurring.edit(home.owner, id, { timezone: String(ZONES[at % 4]) }, home.record),
  'end date': (home, at, _, id) =>
    home.recurring.edit(home.owner, id, { end_date: inDays(home, 3 * (at + 1)) }, home.record),
  rename: (home, at, _, id) => home.recurring.edit(home.owner, id, { title: `Title ${at}` }, home.record),
  end: (home, _at, _, id) => home.recurring.end(home.owner, id, home.record),
  'undo last': (home) => undo(home, 0),
  'undo the previous one': (home) => undo(home, 1),
  undo: (home, at) => undo(home, at),
  'undo since': (home, at) => home.undoSince(new Date(home.now.getTime() - at * 1000)),
  'client completes': (home, _, id) => home.write(id, { completed: true }),
  'client titles': (home, at, id) => home.write(id, { title: String(TITLES[at % 3]) }),
  pass: async (home) => {
    home.now = new Date(home.now.getTime() + 60_000);
  },
};

function inDays({ now }: MemoryTodos, days: number): Date {
  return new Date(now.getTime() + days * DAY);
}

function soon({ now }: MemoryTodos, at: number): Date {
  return new Date(now.getTime() + (at + 1) * HOUR);
}

async function undo(home: MemoryTodos, at: number): Promise<void> {
  const { entries } = home;
  const entry = entries[at % entries.length];
  if (entry) await home.undo(entry.id);
}

/** Returns the reason of a rejection. A conflict fails the test, because nothing runs concurrently. */
async function refusalOf(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    if (error.details.reason === 'CONTENTION') throw error;
    return error.details.reason ?? error.code;
  }
}

async function perform(home: MemoryTodos, { what, at }: Move): Promise<void> {
  home.now = new Date(home.now.getTime() + 1000);
  const ids = home.all.map(({ id }) => id);
  const recurring = home.state.recurring.values.map(({ id }) => id);
  const move = MOVES[what] ?? assert.fail(what);
  await refusalOf(() => move(home, at, ids[at % ids.length] ?? 'none', recurring[at % recurring.length] ?? 'none'));
}

/** Asserts that each active recurring task has exactly the occurrences from its first to its latest one. */
function requireComplete(home: MemoryTodos, after: string): void {
  for (const { end_date: _, ...recurring } of home.state.recurring.values) {
    if (recurring.ended_at) continue;
    const { id, latest_on: latestOn, start_date: due } = recurring;
    const dates = home.all.flatMap((todo) => (todo.recurring_task_id === id ? [String(todo.occurs_on)] : [])).sort();
    const on = String(dates[0]);
    const expected = [on, ...followingOccurrences(recurring, { due, on }, 30).map((one) => one.on)];
    assert.deepEqual(dates, expected.slice(0, dates.length), after);
    assert.equal(dates.at(-1), latestOn, after);
  }
}

/** Asserts that each to-do can be completed and deleted, and that both can be undone and repeated. */
async function requireUsable(home: MemoryTodos, after: string): Promise<void> {
  for (const { id, completed } of home.all) {
    if (!completed) await requireRounds(home, 'complete', id, after);
    if (home.state.todos.find(id)) await requireRounds(home, 'delete', id, after);
    home.requireSound(`${after}; used ${id}`);
  }
}

async function requireRounds(home: MemoryTodos, what: 'complete' | 'delete', id: string, after: string): Promise<void> {
  await home.todos[what](home.owner, id, home.record);
  for (let round = 0; round < 2 * ROUNDS; round++) {
    home.now = new Date(home.now.getTime() + 1000);
    const reported = `${after}; ${what} ${id}, round ${round}`;
    const [latest] = home.entries;
    const refused = await refusalOf(async () => {
      const undone = await home.undo(latest?.id ?? '');
      assert.deepEqual(undone.refused, [], reported);
    });
    // Another to-do may now have the same title and due date.
    if (refused === 'DUPLICATE_TASK') return;
    assert.equal(refused, undefined, reported);
    home.requireSound(reported);
  }
}

describe('to-dos after any sequence of changes and undos', function () {
  this.timeout('5m');

  it('can be completed after an undo that did not delete a changed next occurrence', async () => {
    for (const frequency of FREQUENCIES) {
      const home = new MemoryTodos();
      const draft = { title: 'Standup', frequency, start_date: inDays(home, 1) };
      const { first } = await home.recurring.create(home.owner, draft, home.record);
      const { next } = await home.todos.complete(home.owner, first.id, home.record);
      const [completion] = home.entries;
      await home.todos.edit(home.owner, String(next?.id), { priority: 'HIGH' }, home.record);
      const { refused } = await home.undo(String(completion?.id));
      const kinds = refused.map(({ effect }) => effect.kind);
      assert.deepEqual(kinds, ['todo', 'recurring_task']);
      assert.equal((await home.todos.complete(home.owner, first.id, home.record)).next, undefined);
      home.requireSound(frequency);
    }
  });

  it('use an existing occurrence as their next occurrence', async () => {
    const home = new MemoryTodos();
    const draft = { title: 'Standup', frequency: 'DAILY', start_date: inDays(home, 1) };
    const { first, recurringTask } = await home.recurring.create(home.owner, draft, home.record);
    const { next } = await home.todos.complete(home.owner, first.id, home.record);
    await home.todos.reopen(home.owner, first.id, home.record);
    await home.todos.complete(home.owner, first.id, home.record);
    // A restored backup can leave the data in this state.
    home.state.recurring.set(recurringTask.id, recurringTask);
    home.state.todos.set(first.id, { todo: first, recorded: todoResponse(first) });
    const completed = await home.todos.complete(home.owner, first.id, home.record);
    assert.equal(completed.next?.id, next?.id);
    home.requireSound('completed');
  });

  it('can be completed, deleted and undone, and no occurrence is lost', async () => {
    const moves = fc.array(fc.record({ what: fc.constantFrom(...Object.keys(MOVES)), at: fc.nat({ max: 11 }) }), {
      minLength: 4,
      maxLength: 20,
    });
    const anything = fc.asyncProperty(moves, fc.constantFrom(...FREQUENCIES), async (all, frequency) => {
      const home = new MemoryTodos();
      const draft = { title: 'Standup', frequency, start_date: inDays(home, 1) };
      await home.recurring.create(home.owner, draft, home.record);
      for (const move of all) {
        await perform(home, move);
        home.requireSound(`${move.what} ${move.at}`);
      }
      const isWhole = !all.some(({ what }) => what === 'delete' || what === 'undo since');
      if (isWhole) requireComplete(home, 'all moves');
      await requireUsable(home, 'all moves');
    });
    await fc.assert(anything, { numRuns: RUNS });
  });
});
