/** View of a workspace's goal, from the response of get_status: progress, agents, and stuck and late tasks. */
import { goalView as text } from '../text/views.ts';
import { fill, number, percent, plural } from '../ui/format.ts';
import { Icon } from '../ui/Icon.tsx';
import { Meter, type Tone } from '../ui/Meter.tsx';
import { stateName } from '../ui/State.tsx';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './shared/host.ts';
import { Agent, Facts, MAX_ROWS, Section, Sign, Words } from './shared/parts.tsx';
import { startView, type ViewActions } from './shared/view.tsx';

/** Groups of states in the bar, each with its color. */
const GROUPS: readonly (readonly [tone: Tone, states: readonly string[]])[] = [
  ['good', ['done']],
  ['busy', ['in_progress', 'claimed']],
  ['wait', ['verifying']],
  ['idle', ['available', 'blocked', 'never']],
  ['bad', ['failed']],
];

/** Returns the number of tasks in each state. The response counts blocked tasks as available, and verifying ones as in progress. */
function countsOf(answer: Fields): (state: string) => number {
  const tasks = fieldsOf(answer['tasks']);
  const never = numberOf(fieldsOf(answer['stuck'])['count']);
  const blocked = Math.max(0, numberOf(answer['blocked_tasks']) - never);
  const available = Math.max(0, numberOf(tasks['available']) - blocked - never);
  const verifying = Math.min(numberOf(tasks['in_progress']), numberOf(fieldsOf(answer['verifying'])['count']));
  const in_progress = numberOf(tasks['in_progress']) - verifying;
  const counts: Fields = { ...tasks, in_progress, verifying, never, blocked, available };
  return (state) => numberOf(counts[state]);
}

function Progress({ answer }: { readonly answer: Fields }) {
  const total = numberOf(answer['total_tasks']);
  if (total === 0) return <p class="soft">{text.noTasks}</p>;
  const countOf = countsOf(answer);
  const sum = (states: readonly string[]) => states.reduce((whole, state) => whole + countOf(state), 0);
  const done = countOf('done');
  const label = `${percent(done / total)}: ${fill(text.done, { done: number(done), n: number(total) })}`;
  const words = (state: string) => `${number(countOf(state))} ${stateName(state).toLowerCase()}`;
  return (
    <>
      <Meter parts={GROUPS.map(([tone, states]) => [tone, sum(states) / total])} label={label} />
      <ul class="legend">
        {GROUPS.filter(([, states]) => sum(states) > 0).map(([tone, states]) => (
          <li key={tone}>
            <span class={`key f-${tone}`} />
            {states
              .filter((state) => countOf(state) > 0)
              .map(words)
              .join(', ')}
          </li>
        ))}
      </ul>
    </>
  );
}

function stuckRow(task: Fields, person: ViewActions) {
  const id = textOf(task['id']);
  const cause = textOf(task['because_of']);
  const retry = () => person.act('retry_task', { task_id: cause, with_dependents: true }, `retried task ${cause}`);
  return (
    <li key={id} class="row">
      <div class="grow">
        <p class="line">
          <Sign of="never" />
          <code>
            <Words text={id} />
          </code>
        </p>
        <p class="hint">
          <Words text={cause === '' ? textOf(task['reason']) : fill(text.because, { id: cause })} />
        </p>
      </div>
      {person.mayAct && cause !== '' && (
        <button
          type="button"
          class="b small"
          aria-label={fill(text.retryOf, { id: cause })}
          aria-disabled={person.isBusy}
          onClick={retry}>
          <Icon of="retry" small />
          {text.retry}
        </button>
      )}
    </li>
  );
}

function verifyingRow(task: Fields, person: ViewActions) {
  return (
    <li key={textOf(task['id'])} class="row">
      <div class="grow">
        <p class="line">
          <Sign of="verifying" />
          <code>
            <Words text={textOf(task['id'])} />
          </code>
        </p>
        <p class="hint">
          <Words text={person.localized(textOf(task['waits']))} max={240} />
        </p>
      </div>
    </li>
  );
}

function lateRow(task: Fields, person: ViewActions) {
  const holder = textOf(task['claimed_by']);
  const due = person.time(task['deadline']);
  return (
    <li key={textOf(task['id'])} class="row">
      <div class="grow">
        <p class="line">
          <Sign of="overdue" words={text.late} />
          <code>
            <Words text={textOf(task['id'])} />
          </code>
        </p>
        <Facts of={[due !== '' && fill(text.due, { time: due }), holder !== '' && <Agent id={holder} />]} />
      </div>
    </li>
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
    const [stuck, late, verifying] = [
      fieldsOf(answer['stuck']),
      fieldsOf(answer['late']),
      fieldsOf(answer['verifying']),
    ];
    const verified = numberOf(verifying['count']);
    // The view has one act: to retry what blocks others. A result is sent back from the view of its task.
    const verifyingRows = listOf(verifying['tasks'])
      .slice(0, 1)
      .map((task) => verifyingRow(task, person));
    const room = MAX_ROWS - verifyingRows.length;
    const stuckRows = listOf(stuck['tasks'])
      .slice(0, room)
      .map((task) => stuckRow(task, person));
    const lateRows = listOf(late['tasks'])
      .slice(0, room - stuckRows.length)
      .map((task) => lateRow(task, person));
    const total = numberOf(answer['total_tasks']);
    const { total: agents, active } = fieldsOf(answer['agents']);
    return (
      <>
        <header class="goal">
          <div>
            <p class="hint">{text.title}</p>
            <h1>
              <Words text={textOf(answer['goal']) || text.none} max={240} />
            </h1>
          </div>
          {total > 0 && (
            <p class="big">
              {number(numberOf(fieldsOf(answer['tasks'])['done']))}
              <span class="faint">{fill(text.ofDone, { n: number(total) })}</span>
            </p>
          )}
        </header>
        <Progress answer={answer} />
        {numberOf(agents) > 0 && (
          <p class="hint">{fill(text.agents, { active: numberOf(active), n: numberOf(agents) })}</p>
        )}
        <Section title={plural(verified, text.verifying)} rows={verifyingRows} more={verified - verifyingRows.length} />
        <Section
          title={text.stuck}
          count={numberOf(stuck['count'])}
          rows={stuckRows}
          more={numberOf(stuck['count']) - stuckRows.length}
        />
        <Section
          title={text.late}
          count={numberOf(late['count'])}
          rows={lateRows}
          more={numberOf(late['count']) - lateRows.length}
        />
      </>
    );
  },
});
