/** View of a workspace's goal, from the response of get_status: progress, agents, and stuck and late tasks. */
import {
  boundedText,
  button,
  type Child,
  MAX_ROWS,
  make,
  rows,
  state,
  type Tone,
} from '../../../mcp/views/elements.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../../mcp/views/host.ts';
import { startView, type ViewActions } from '../../../mcp/views/view.ts';

const STATES: readonly (readonly [name: string, words: string, tone: Tone])[] = [
  ['done', 'done', 'good'],
  ['in_progress', 'in progress', 'busy'],
  ['claimed', 'claimed', 'busy'],
  ['available', 'available', 'quiet'],
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
  if (total === 0) return [make('p', 'No tasks yet.')];
  const done = `${numberOf(tasks['done'])} of ${total} tasks are done (${numberOf(answer['progress_percent'])} %).`;
  return [bar, make('p', done), make('p', ...counts)];
}

function workers(answer: Fields): Child {
  const { total, active } = fieldsOf(answer['agents']);
  const blocked = numberOf(answer['blocked_tasks']);
  const agents = `${numberOf(active)} of ${numberOf(total)} agents are active.`;
  return make('p.quiet', agents, blocked > 0 && ` Blocked tasks: ${blocked}.`);
}

function stuckRow(task: Fields, person: ViewActions): HTMLElement {
  const id = textOf(task['id']);
  const cause = textOf(task['because_of']);
  const retry = () => person.act('retry_task', { task_id: cause, with_dependents: true }, `retried task ${cause}`);
  const options = { key: `retry ${id}`, label: `Retry ${cause}`, disabled: person.isBusy };
  const because = cause === '' ? textOf(task['reason']) : `${cause} failed or was cancelled.`;
  return make(
    'li.row',
    make('span', state('stuck', 'bad')),
    make('div', boundedText(id), make('div.quiet', boundedText(because))),
    person.mayAct && cause !== '' && button('Retry', options, retry),
  );
}

function lateRow(task: Fields, person: ViewActions): HTMLElement {
  const holder = textOf(task['claimed_by']);
  return make(
    'li.row',
    make('span', state('late', 'late')),
    make(
      'div',
      boundedText(textOf(task['id'])),
      make(
        'div.quiet',
        `due ${person.time(task['deadline'])}`,
        ...(holder === '' ? [] : ['; held by ', boundedText(holder)]),
      ),
    ),
  );
}

startView({
  toolset: 'coordination',
  tool: 'get_status',
  isOpen: (answer) => {
    const { available, claimed, in_progress } = fieldsOf(answer['tasks']);
    return numberOf(available) + numberOf(claimed) + numberOf(in_progress) > 0;
  },
  draw: (answer, person) => {
    const [stuck, late] = [fieldsOf(answer['stuck']), fieldsOf(answer['late'])];
    const stuckRows = listOf(stuck['tasks']).map((task) => stuckRow(task, person));
    const room = MAX_ROWS - stuckRows.length;
    const lateRows = listOf(late['tasks'])
      .slice(0, room)
      .map((task) => lateRow(task, person));
    return [
      make('h1', boundedText(textOf(answer['goal']) || 'No goal yet', 240)),
      ...progress(answer),
      workers(answer),
      rows('Can never start', stuckRows, numberOf(stuck['count']) - stuckRows.length),
      rows('Late', lateRows, numberOf(late['count']) - lateRows.length),
    ];
  },
});
