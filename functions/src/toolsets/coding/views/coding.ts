/** View of a coding task: its holder, latest log lines and result, from the response of report_task. */
import { boundedText, type Child, make, rows, state, toneOf } from '../../../mcp/views/elements.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../../mcp/views/host.ts';
import { startView, type ViewActions } from '../../../mcp/views/view.ts';

const MAX_SHOWN_LINES = 8;

/** Maximum number of commits shown, so that log lines also have space. */
const MAX_SHOWN_COMMITS = 4;
const isOpen = (task: Fields) => !['done', 'failed', 'cancelled'].includes(textOf(task['state']));

/** Fields that explain the task's status. The view shows the first of these fields that is set. */
const SENTENCES = ['stuck', 'waits', 'error', 'summary', 'progress'] as const;

function locationOf(task: Fields, person: ViewActions): HTMLElement {
  const { tool, branch, project, runner, attempt, waitingFor } = task;
  const about = [tool, project, branch].map(textOf).filter((text) => text !== '');
  const holder = textOf(runner);
  const number = numberOf(attempt);
  return make(
    'p.quiet',
    ...about.flatMap((text, index) => [index > 0 && ' · ', boundedText(text, 80)]),
    holder !== '' && make('span', isOpen(task) ? ', held by ' : ', closed by ', boundedText(holder, 60)),
    number > 1 && `, attempt ${number}`,
    textOf(waitingFor) !== '' && make('span', ', waiting for ', boundedText(textOf(waitingFor), 60)),
    textOf(task['retryAt']) !== '' && `, retry at ${person.time(task['retryAt'])}`,
  );
}

function log({ lines, latest }: Fields): Child {
  const shown = listOf(latest).slice(-MAX_SHOWN_LINES);
  if (shown.length === 0) return undefined;
  const all = numberOf(lines);
  const items = shown.map((line) =>
    make(
      'li',
      textOf(line['level']) === 'error' && make('span.bad', 'error '),
      boundedText([textOf(line['prefix']), textOf(line['message'])].filter((text) => text !== '').join(': '), 200),
    ),
  );
  const list = make('ul.log', ...items);
  list.setAttribute('aria-label', 'Log');
  return make('section', make('h2', `Log, last ${shown.length} of ${all} lines`), list);
}

function commits(result: Fields): Child {
  const all = listOf(result['commits']);
  const shown = all.slice(-MAX_SHOWN_COMMITS).map((commit) => {
    const sha = make('code', textOf(commit['sha']).slice(0, 8));
    return make('li', sha, ' ', boundedText(textOf(commit['subject']), 100));
  });
  return rows('Commits', shown, all.length - shown.length);
}

function pullRequest(result: Fields, person: ViewActions): Child {
  const { number, url } = fieldsOf(result['pullRequest']);
  if (number === undefined) return undefined;
  return make('p', person.link(`Pull request ${numberOf(number)}`, textOf(url)));
}

startView({
  toolset: 'coding',
  tool: 'report_task',
  isOpen: (answer) => isOpen(fieldsOf(fieldsOf(answer['result'])['task'])),
  draw: (answer, person) => {
    const report = fieldsOf(answer['result']);
    const task = fieldsOf(report['task']);
    const result = fieldsOf(report['result']);
    const taskId = textOf(task['id']);
    const shownState = textOf(task['state']);
    const sentence = SENTENCES.map((name) => textOf(task[name])).find((text) => text !== '') ?? '';
    const stop = () => {
      const failure = { class: 'cancelled', message: 'Stopped by a person in a chat.' };
      person.act('end_task', { taskId, status: 'failed', failure }, `stopped the coding task ${taskId}`);
    };
    return [
      make(
        'h1',
        boundedText(textOf(task['description']) || 'Coding task', 160),
        ' ',
        state(shownState, toneOf(shownState)),
      ),
      locationOf(task, person),
      sentence !== '' && make('p', boundedText(sentence, 300)),
      log(fieldsOf(report['logs'])),
      commits(result),
      pullRequest(result, person),
      isOpen(task) && person.confirmed('Stop the task', 'Stop the task? It counts as failed. Its branch stays.', stop),
    ];
  },
});
