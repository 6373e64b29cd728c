/** Document reads of to-do tools do not depend on the number of to-dos, reminders, recurring tasks and events. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { todo as todoToolset } from '../../../functions/src/toolsets/todo/index.ts';
import { SORT_FIELDS, SORT_ORDERS } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { countReads, longestList, type Reads } from '../../support/countedReads.ts';
import { answer } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { crowdTodos } from './crowd.ts';

const [FEW, MANY] = [24, 240];

/** Maximum number of reads in addition to the listed items: one more item, a count, and queries for three words. */
const MAX_BEYOND = 6;

/** Maximum number of reads for `delegate`, which also creates a task and the workspace's first session. */
const MAX_DELEGATING = 12;

type Arguments = (team: Team) => JsonObject;

const LIMIT = 5;

/** Ids of the second to-do of the crowd, which is open and has a due date, and of its recurring task. */
const open = (team: Team) => `${team.workspace}-1`;
const again = (team: Team) => `${team.workspace}-1-again`;
const inDays = (team: Team, days: number) => new Date(team.now.getTime() + days * 86_400_000).toISOString();

/** The calls, in order. Each call needs the to-do in the state in which the previous calls leave it. */
const calls: readonly (readonly [tool: string, args: Arguments])[] = [
  ...SORT_FIELDS.flatMap((sort_by) =>
    SORT_ORDERS.flatMap((sort_order): [string, Arguments][] => [
      ['sort_tasks', () => ({ sort_by, sort_order, limit: LIMIT })],
      [
        'list_tasks',
        (team) => ({
          tags: ['even', 'work'],
          due_after: team.now.toISOString(),
          due_before: inDays(team, 300),
          sort_by,
          sort_order,
          limit: LIMIT,
        }),
      ],
    ]),
  ),
  ['filter_tasks', () => ({ priority: 'HIGH', completed: false, tags: ['work'], limit: LIMIT })],
  ['filter_tasks', () => ({ tags: ['nothing has this'] })],
  ['search_tasks', () => ({ query: 'meeting', limit: LIMIT })],
  ['search_tasks', () => ({ query: 'budget meet', limit: LIMIT })],
  ['search_tasks', () => ({ query: 'the meeting budget', limit: LIMIT })],
  ['search_tasks', () => ({ query: 'plumber budget review', limit: LIMIT })],
  ['search_tasks', () => ({ query: 'nothing of it' })],
  ['list_reminders', () => ({ limit: LIMIT })],
  ['list_reminders', () => ({ upcoming: false, limit: LIMIT })],
  ['list_recurring_tasks', () => ({ limit: LIMIT })],
  ['get_task_history', (team) => ({ task_id: `${team.workspace}-0`, limit: LIMIT })],
  ['add_task', (team) => ({ title: 'New', due_date: inDays(team, 1) })],
  ['update_task', (team) => ({ task_id: open(team), title: 'Another title', clear: ['description'] })],
  ['set_task_priority', (team) => ({ task_id: open(team), priority: 'LOW' })],
  ['set_task_due_date', (team) => ({ task_id: open(team), due_date: inDays(team, 2) })],
  ['add_task_tags', (team) => ({ task_id: open(team), tags: ['more'] })],
  ['set_reminder', (team) => ({ task_id: open(team), remind_at: inDays(team, 1) })],
  ['snooze_reminder', (team) => ({ reminder_id: open(team), minutes: 10 })],
  ['delete_reminder', (team) => ({ reminder_id: open(team) })],
  ['delegate', (team) => ({ task_id: open(team) })],
  ['complete_task', (team) => ({ task_id: open(team) })],
  ['reopen_task', (team) => ({ task_id: open(team) })],
  ['delete_task', (team) => ({ task_id: `${team.workspace}-2` })],
  ['create_recurring_task', (team) => ({ title: 'Daily', frequency: 'DAILY', start_date: inDays(team, 1) })],
  ['update_recurring_task', (team) => ({ recurring_task_id: again(team), title: 'Hourly' })],
  ['delete_recurring_task', (team) => ({ recurring_task_id: again(team) })],
];

describe('document reads of to-do tools', function () {
  this.timeout(600_000); // The tests take seconds on an idle machine, but much longer on a busy one.

  const teams = [FEW, MANY].map((count) => ({ count, team: new Team() }));
  let reads: Reads;

  before(async () => {
    for (const { count, team } of teams) await crowdTodos(team, count);
    reads = countReads();
  });

  after(() => reads.stop());

  it('have a test in this file for every to-do tool', () => {
    const called = new Set(calls.map(([tool]) => tool));
    const untested = todoToolset.tools.map(({ name }) => name).filter((name) => !called.has(name));
    assert.deepEqual(untested, []);
  });

  for (const [tool, args] of calls) {
    const example = new Team();
    it(`are equal with ${FEW} and ${MANY} to-dos: ${tool} ${described(args(example), example)}`, async () => {
      const read: number[] = [];
      for (const { count, team } of teams) {
        let answered: JsonObject = {};
        read.push(
          await reads.during(async () => {
            answered = await answer(team, `todo_${tool}`, args(team));
          }),
        );
        const beyond = (read.at(-1) ?? 0) - longestList(answered);
        const max = tool === 'delegate' ? MAX_DELEGATING : MAX_BEYOND;
        assert.ok(beyond <= max, `${beyond} reads beyond the returned list, with ${count} to-dos`);
      }
      assert.equal(read[0], read[1]);
    });
  }

  it('are not more for later pages of a list', async () => {
    const asked = { query: 'budget', limit: 2 };
    for (const { team } of teams) {
      const { next_cursor } = await answer(team, 'todo_search_tasks', asked);
      let answered: JsonObject = {};
      const read = await reads.during(async () => {
        answered = await answer(team, 'todo_search_tasks', { ...asked, cursor: String(next_cursor) });
      });
      assert.equal(longestList(answered), asked.limit);
      assert.ok(read <= asked.limit + MAX_BEYOND, `${read}`);
    }
  });
});

/** Returns the arguments as a text for test titles. The text does not contain the workspace's name, which varies. */
function described(args: JsonObject, { workspace }: Team): string {
  return JSON.stringify(args).replaceAll(workspace, 'todo');
}
