/** Mistakes in arguments that are possible with every tool. */
import { randomUUID } from 'node:crypto';
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

const called = (tool: string, args: object) => (fixture: MistakesFixture) => fixture.call(tool, args);

export const argumentMistakes: readonly Mistake[] = [
  mistake('writes an argument in camel case', called('todo_complete_task', { taskId: 'abc' }), {
    happened: /Unknown argument|Missing required argument/,
    where: /taskId/,
    next: /Did you mean "?task_id|Known arguments: task_id/,
  }),
  {
    who: 'writes an argument in snake case if the specification uses camel case',
    make: called('coding_report_task', { task_id: 'abc' }),
    happened: /Unknown argument|Missing required argument/,
    where: /task_id/,
    next: /Did you mean "?taskId|Known arguments: taskId/,
  },
  mistake('omits a required argument', called('todo_add_task', { description: 'Two litres' }), {
    happened: /Missing required argument/,
    where: /"?title/,
    next: /Task title/,
  }),
  mistake('writes a number as text', called('todo_list_tasks', { limit: 'ten' }), {
    happened: /number/,
    where: /limit/,
    next: /expected (a |an )?(number|int)/i,
  }),
  mistake('writes an enumerated value as a number', called('todo_add_task', { title: 'Milk', priority: 1 }), {
    happened: /Invalid|expected/i,
    where: /priority/,
    next: /LOW.*MEDIUM.*HIGH/,
  }),
  mistake('writes an enumerated value in lowercase', called('todo_add_task', { title: 'Milk', priority: 'high' }), {
    happened: /Invalid|expected/i,
    where: /priority/,
    next: /LOW.*MEDIUM.*HIGH/,
  }),
  mistake('writes a list as comma-separated text', called('todo_add_task', { title: 'Milk', tags: 'home, food' }), {
    happened: /expected a list, received text/,
    where: /tags/,
    next: /array|\[/,
  }),
  mistake('writes null for a required argument', called('todo_add_task', { title: null }), {
    happened: /received null/,
    where: /title/,
    next: /expected string/i,
  }),
  mistake('asks for an unknown status', called('coordination_get_all_tasks', { status_filter: 'pending' }), {
    happened: /Invalid|expected/i,
    where: /status_filter/,
    next: /available.*claimed.*in_progress.*done.*failed/,
  }),
  mistake('asks for more items than a page may have', called('todo_list_tasks', { limit: 100_000 }), {
    happened: /Too big/,
    where: /limit/,
    next: /<=\s?\d+|at most \d+/,
  }),
  mistake('invents a cursor', called('todo_list_tasks', { cursor: 'page2' }), {
    happened: /cursor/,
    where: /cursor/,
    next: /next_cursor|as (it was )?answered|begin|without/i,
  }),
  mistake(
    'reuses an idempotency key with other arguments',
    async (fixture) => {
      const key = randomUUID();
      await fixture.made('todo_add_task', { title: `Milk ${key}`, idempotency_key: key });
      return fixture.call('todo_add_task', { title: `Bread ${key}`, idempotency_key: key });
    },
    { happened: /used|other arguments/i, where: /idempotency_key/, next: /new|another|other/i },
  ),
];
