/** Interactive list of the to-dos that list_tasks returned. A checkbox completes or reopens a to-do. */
import { boundedText, MAX_ROWS, make, rows, state, tick, toneOf } from '../../../mcp/views/elements.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../../mcp/views/host.ts';
import { startView, type ViewActions } from '../../../mcp/views/view.ts';

function delegated(todo: Fields): HTMLElement | undefined {
  const { status, done, things } = fieldsOf(todo['delegated']);
  const word = textOf(status);
  if (word === '') return undefined;
  return make(
    'div.quiet',
    'agents: ',
    state(word, toneOf(word)),
    numberOf(things) > 1 && `, ${numberOf(done)} of ${numberOf(things)} done`,
  );
}

function about(todo: Fields, person: ViewActions): HTMLElement | undefined {
  const { due_date, priority, tags, completed } = todo;
  const due = person.time(due_date);
  const isOverdue = completed !== true && due !== '' && Date.parse(textOf(due_date)) < Date.now();
  const parts = [
    due !== '' && (isOverdue ? make('span.late', `overdue since ${due}`) : `due ${due}`),
    /^(HIGH|URGENT)$/i.test(textOf(priority)) && state(textOf(priority).toLowerCase(), 'late'),
    ...(Array.isArray(tags) ? tags.map((tag) => boundedText(`#${String(tag)}`, 40)) : []),
  ].filter((part) => part !== false);
  if (parts.length === 0) return undefined;
  return make('div.quiet', ...parts.flatMap((part, index) => [index > 0 && ' · ', part]));
}

function row(todo: Fields, person: ViewActions): HTMLElement {
  const id = textOf(todo['id']);
  const title = textOf(todo['title']);
  const isDone = todo['completed'] === true;
  const toggle = () => {
    if (isDone) person.act('reopen_task', { task_id: id }, `reopened the to-do ${id}`);
    else person.act('complete_task', { task_id: id }, `completed the to-do ${id}`);
  };
  const name = boundedText(title, 60).textContent ?? id;
  const box = person.mayAct
    ? tick(isDone, { key: id, label: `Done: ${name}`, disabled: person.isBusy }, toggle)
    : make('span', state(isDone ? 'done' : 'open', isDone ? 'good' : 'quiet'));
  return make(
    isDone ? 'li.row.done' : 'li.row',
    box,
    make('div', boundedText(title), about(todo, person), delegated(todo)),
  );
}

/** Returns whether agents may still change the to-do, so that the view must be refreshed. */
function isUnderWay(todo: Fields): boolean {
  const { status } = fieldsOf(todo['delegated']);
  return todo['completed'] !== true && ['open', 'in_progress', 'waiting'].includes(textOf(status));
}

startView({
  toolset: 'todo',
  tool: 'list_tasks',
  isOpen: ({ tasks }) => listOf(tasks).some(isUnderWay),
  draw: ({ tasks, total }, person) => {
    const todos = listOf(tasks);
    const open = todos.filter(({ completed }) => completed !== true).length;
    const shown = Math.min(todos.length, MAX_ROWS);
    const known = Math.max(todos.length, numberOf(total));
    const heading = todos.length === 0 ? 'No matching to-dos' : `${open} open of ${todos.length} listed`;
    return [
      make('h1', 'To-dos'),
      make('p.quiet', heading),
      rows(
        'To-dos',
        todos.slice(0, shown).map((todo) => row(todo, person)),
        known - shown,
      ),
    ];
  },
});
