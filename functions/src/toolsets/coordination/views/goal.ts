/** The goal of a workspace, drawn from what get_status answers: how far it is, who works, and what does not go on. */
import {
  button,
  type Child,
  MOST_ROWS,
  make,
  rows,
  state,
  type Tone,
  words,
} from '../../../mcp/views/elements.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../../mcp/views/host.ts';
import { begin, type Person } from '../../../mcp/views/view.ts';

/** In the order of a task's life, the end first. */
const STATES: readonly (readonly [name: string, words: string, tone: Tone])[] = [
  ['done', 'done', 'good'],
  ['in_progress', 'in progress', 'busy'],
  ['claimed', 'claimed', 'busy'],
  ['available', 'waiting', 'quiet'],
  ['failed', 'failed', 'bad'],
];

function progress(answer: Fields): readonly Child[] {
  const tasks = fieldsOf(answer['tasks']);
  const present = STATES.map(([name, word, tone]) => ({ word, tone, count: numberOf(tasks[name]) })).filter(
    ({ count }) => count > 0,
  );
  const parts = present.map(({ tone, count }) => {
    const part = make(`i.${tone}`);
    part.style.flexGrow = String(count);
    return part;
  });
  const bar = make('div.bar', ...parts);
  bar.setAttribute('aria-hidden', 'true');
  const counts = present.flatMap(({ word, tone, count }, index) => [
    index > 0 && ', ',
    state(`${count} ${word}`, tone),
  ]);
  const total = numberOf(answer['total_tasks']);
  if (total === 0) return [make('p', 'There are no tasks yet.')];
  const done = `${numberOf(tasks['done'])} of ${total} tasks are done, ${numberOf(answer['progress_percent'])} %.`;
  return [bar, make('p', done), make('p', ...counts)];
}

function workers(answer: Fields): Child {
  const { total, active } = fieldsOf(answer['agents']);
  const blocked = numberOf(answer['blocked_tasks']);
  const agents = `${numberOf(active)} of ${numberOf(total)} agents are at work.`;
  return make('p.quiet', agents, blocked > 0 && ` ${blocked} tasks wait for others.`);
}

function stuckRow(task: Fields, person: Person): HTMLElement {
  const id = textOf(task['id']);
  const cause = textOf(task['because_of']);
  const retry = () =>
    person.act('retry_task', { task_id: cause, with_dependents: true }, `had task ${cause} tried again`);
  const options = { key: `retry ${id}`, label: `Try again: ${cause}`, disabled: person.isBusy };
  const because = cause === '' ? textOf(task['reason']) : `${cause} failed or was cancelled.`;
  return make(
    'li.row',
    make('span', state('stuck', 'bad')),
    make('div', words(id), make('div.quiet', words(because))),
    person.mayAct && cause !== '' && button('Try again', options, retry),
  );
}

function lateRow(task: Fields, person: Person): HTMLElement {
  const holder = textOf(task['claimed_by']);
  return make(
    'li.row',
    make('span', state('late', 'late')),
    make(
      'div',
      words(textOf(task['id'])),
      make(
        'div.quiet',
        `was to be done by ${person.time(task['deadline'])}`,
        ...(holder === '' ? [] : ['; held by ', words(holder)]),
      ),
    ),
  );
}

begin({
  toolset: 'coordination',
  tool: 'get_status',
  isOpen: (answer) => {
    const { available, claimed, in_progress } = fieldsOf(answer['tasks']);
    return numberOf(available) + numberOf(claimed) + numberOf(in_progress) > 0;
  },
  draw: (answer, person) => {
    const [stuck, late] = [fieldsOf(answer['stuck']), fieldsOf(answer['late'])];
    const stuckRows = listOf(stuck['tasks']).map((task) => stuckRow(task, person));
    const room = MOST_ROWS - stuckRows.length;
    const lateRows = listOf(late['tasks'])
      .slice(0, room)
      .map((task) => lateRow(task, person));
    return [
      make('h1', words(textOf(answer['goal']) || 'No goal is set', 240)),
      ...progress(answer),
      workers(answer),
      rows('Will never start', stuckRows, numberOf(stuck['count']) - stuckRows.length),
      rows('Late', lateRows, numberOf(late['count']) - lateRows.length),
    ];
  },
});
