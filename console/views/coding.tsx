/** View of a coding task: its holder, latest log lines and result, from the response of report_task. */
import type { ComponentChildren } from 'preact';
import { steps } from '../text/common.ts';
import { codingView as text } from '../text/views.ts';
import { fill, number } from '../ui/format.ts';
import { Icon } from '../ui/Icon.tsx';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './shared/host.ts';
import { Agent, Facts, Head, Section, Words } from './shared/parts.tsx';
import { startView, type ViewActions } from './shared/view.tsx';

const MAX_SHOWN_LINES = 8;

/** Maximum number of commits shown, so that log lines also have space. */
const MAX_SHOWN_COMMITS = 3;
const isOpen = (task: Fields) => !['done', 'failed', 'cancelled'].includes(textOf(task['state']));

/** Fields that explain the task's status. The view shows the first of these fields that is set. */
const SENTENCES = ['stuck', 'waits', 'error', 'summary', 'progress'] as const;

function facts(task: Fields, person: ViewActions): readonly ComponentChildren[] {
  const [runner, project, branch, waiting] = ['runner', 'project', 'branch', 'waitingFor'].map((n) => textOf(task[n]));
  const attempt = numberOf(task['attempt']);
  const retry = person.time(task['retryAt']);
  return [
    runner && <Agent id={runner} />,
    project && <Words text={project} max={80} />,
    branch && (
      <span class="named">
        <Icon of="branch" small />
        <Words text={branch} max={80} />
      </span>
    ),
    attempt > 1 && fill(text.attempt, { n: attempt }),
    waiting && <Words text={fill(text.waitingFor, { who: waiting })} max={80} />,
    ...verifyingFacts(fieldsOf(task['verifying'])),
    retry && fill(text.retries, { time: retry }),
  ];
}

/** The step at which the result is being verified, and the round. */
function verifyingFacts({ step, round, of_rounds: all }: Fields): readonly ComponentChildren[] {
  if (step === undefined) return [];
  const name = textOf(step);
  return [
    steps[name] ?? <Words text={name} max={40} />,
    fill(text.round, { round: numberOf(round), n: numberOf(all) }),
  ];
}

/** The last requested correction. Another agent, a person or a command wrote its text. */
function Correction({ of: task }: { readonly of: Fields }) {
  const all = listOf(task['sent_back']);
  const last = all.at(-1);
  if (last === undefined || !isOpen(task)) return null;
  return (
    <Section
      title={fill(text.sentBack, { round: numberOf(last['round']) })}
      rows={[
        <li key="last" class="row">
          <span class="grow">
            <Words text={textOf(last['comments'])} max={400} />
          </span>
        </li>,
      ]}
    />
  );
}

function Log({ of: { lines, latest } }: { readonly of: Fields }) {
  const shown = listOf(latest).slice(-MAX_SHOWN_LINES);
  if (shown.length === 0) return null;
  return (
    <section>
      <div class="head">
        <h2>{text.log}</h2>
        <span class="hint">{fill(text.lines, { shown: shown.length, n: number(numberOf(lines)) })}</span>
      </div>
      <ul class="block log" aria-label={text.log}>
        {shown.map((line, index) => {
          const [source, message] = [textOf(line['prefix']), textOf(line['message'])];
          const prefix = line['type'] === 'message' ? fill(text.messageFrom, { who: source }) : source;
          const isError = line['level'] === 'error';
          return (
            <li key={numberOf(line['line']) || index} class={isError ? 'error' : ''}>
              {isError && <span class="away">{text.error}</span>}
              <Words text={[prefix, message].filter((part) => part !== '').join(': ')} max={200} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Result({ of, person }: { readonly of: Fields; readonly person: ViewActions }) {
  const all = listOf(of['commits']);
  const { number: pull, url } = fieldsOf(of['pullRequest']);
  return (
    <>
      <Section
        title={text.commits}
        rows={all.slice(-MAX_SHOWN_COMMITS).map((commit) => (
          <li key={textOf(commit['sha'])} class="row">
            <code class="faint">
              <Words text={textOf(commit['sha']).slice(0, 8)} />
            </code>
            <span class="grow">
              <Words text={textOf(commit['subject'])} max={100} />
            </span>
          </li>
        ))}
        more={all.length - MAX_SHOWN_COMMITS}
      />
      {pull !== undefined && <p>{person.link(fill(text.pullRequest, { n: numberOf(pull) }), textOf(url))}</p>}
    </>
  );
}

startView({
  toolset: 'coding',
  tool: 'report_task',
  isOpen: (answer) => isOpen(fieldsOf(fieldsOf(answer['result'])['task'])),
  draw: (answer, person) => {
    const report = fieldsOf(answer['result']);
    const task = fieldsOf(report['task']);
    const taskId = textOf(task['id']);
    const waits = person.localized(textOf(fieldsOf(task['verifying'])['waits']));
    const isVerifying = waits !== '';
    const sentence = [waits, ...SENTENCES.map((name) => textOf(task[name]))].find((words) => words !== '') ?? '';
    const failure = { class: 'cancelled', message: 'Stopped by a person in a chat.' };
    return (
      <>
        <Head
          title={textOf(task['description']) || text.title}
          state={isVerifying ? 'verifying' : textOf(task['state'])}>
          {sentence !== '' && <Words text={sentence} max={300} />}
        </Head>
        <Facts of={facts(task, person)} />
        <Correction of={task} />
        <Log of={fieldsOf(report['logs'])} />
        <Result of={fieldsOf(report['result'])} person={person} />
        {isVerifying &&
          person.reachesOthers &&
          person.confirmed({
            label: text.sendBack,
            question: text.sendBackTitle,
            keep: text.keepAsIs,
            words: text.sendBackWords,
            act: (comments) =>
              person.act(
                'coordination.retry_task',
                { task_id: taskId, comments },
                `sent the coding task ${taskId} back`,
              ),
          })}
        {isOpen(task) &&
          !isVerifying &&
          person.confirmed({
            label: text.stop,
            question: text.stopTitle,
            keep: text.keep,
            act: () =>
              person.act('end_task', { taskId, status: 'failed', failure }, `stopped the coding task ${taskId}`),
          })}
      </>
    );
  },
});
