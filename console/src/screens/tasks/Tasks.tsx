/** The tasks of the open session: as a table, or on a board by their states. */

import { useSignal } from '@preact/signals';
import { folded } from '../../../../functions/src/kernel/words.ts';
import { useClosedTasks, useCounts, useOpenTasks, useSessionId } from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import type { Live } from '../../live/live.ts';
import type { Rows } from '../../live/sources.ts';
import { Choices } from '../../parts/Choices.tsx';
import { lazily } from '../../parts/lazily.tsx';
import { Absent, Empty, Shown } from '../../parts/Notice.tsx';
import { stateOf } from '../../parts/taskState.ts';
import { addressOf, ask, parameter, workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { Board } from './Board.tsx';
import { Chosen } from './Chosen.tsx';
import { TaskTable } from './TaskTable.tsx';

const Graph = lazily(async () => (await import('./Graph.tsx')).Graph);

/** What can be asked for; each is a query of its own, so that no limit hides what is sought. */
const CHOICES = [
  ['open', 'Open'],
  ['done', 'Done'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
] as const;

const VIEWS = [
  ['table', 'Table'],
  ['board', 'Board'],
  ['graph', 'Graph'],
] as const;

type Choice = (typeof CHOICES)[number][0];

export function Tasks({ person }: { readonly person: Person }) {
  const here = workspace.value;
  const sessionId = useSessionId(here);
  if (!('value' in sessionId)) {
    return (
      <>
        <h1>Tasks</h1>
        <Absent live={sessionId} />
      </>
    );
  }
  if (sessionId.value === undefined) {
    return (
      <>
        <h1>Tasks</h1>
        <Empty title="No tasks.">
          <p>A leader makes them, and so does a delegated to-do. An agent begins with init_coordination.</p>
        </Empty>
      </>
    );
  }
  return <SessionTasks here={here} session={sessionId.value} person={person} />;
}

interface SessionTasksProps {
  readonly here: string;
  readonly session: string;
  readonly person: Person;
}

function SessionTasks({ here, session, person }: SessionTasksProps) {
  const shown = CHOICES.find(([name]) => name === parameter('show'))?.[0] ?? 'open';
  const view = VIEWS.find(([name]) => name === parameter('view'))?.[0] ?? 'table';
  const counts = useCounts(here, session);
  const numbers = 'value' in counts ? counts.value : {};
  const words = useSignal('');
  const isMineAlone = parameter('mine') !== undefined;
  return (
    <>
      <div class="title">
        <h1>Tasks</h1>
        <Choices
          legend="View"
          options={VIEWS}
          chosen={view}
          choose={(name) => ask('view', name === 'table' ? undefined : name)}
        />
      </div>
      {view === 'graph' && <Graph here={here} session={session} />}
      {view === 'board' && <Board here={here} session={session} counts={numbers} />}
      {view === 'table' && (
        <>
          <div class="filters">
            <Choices
              legend="Which tasks"
              options={CHOICES.map(([name, label]) => [name, `${label} ${countOf(name, numbers)}`])}
              chosen={shown}
              choose={(name) => ask('show', name === 'open' ? undefined : name)}
            />
            <label class="check">
              <input
                type="checkbox"
                checked={isMineAlone}
                onChange={(event) => ask('mine', event.currentTarget.checked ? 'yes' : undefined)}
              />{' '}
              Only mine and my agents’
            </label>
            <label>
              Find in these
              <input
                type="search"
                value={words.value}
                onInput={(event) => (words.value = event.currentTarget.value)}
              />
            </label>
          </div>
          <Listed
            key={shown}
            here={here}
            session={session}
            choice={shown}
            words={words.value}
            owner={isMineAlone ? person.uid : undefined}
            counts={numbers}
          />
        </>
      )}
    </>
  );
}

const OPEN = ['available', 'claimed', 'in_progress', 'waiting'];

function countOf(choice: Choice, counts: Readonly<Record<string, number>>): number {
  return (choice === 'open' ? OPEN : [choice]).reduce((sum, status) => sum + (counts[status] ?? 0), 0);
}

interface ListedProps {
  readonly here: string;
  readonly session: string;
  readonly choice: Choice;
  readonly words: string;
  /** Whose they must be; undefined for anybody's. */
  readonly owner: string | undefined;
  readonly counts: Readonly<Record<string, number>>;
}

function Listed({ choice, ...props }: ListedProps) {
  return choice === 'open' ? (
    <OpenTasks {...props} choice={choice} />
  ) : (
    <ClosedTasks {...props} choice={choice} />
  );
}

function OpenTasks(props: ListedProps) {
  return <Found live={useOpenTasks(props.here, props.session)} {...props} />;
}

function ClosedTasks(props: ListedProps & { readonly choice: 'done' | 'failed' | 'cancelled' }) {
  return <Found live={useClosedTasks(props.here, props.session, props.choice)} {...props} />;
}

function Found({ live, words, owner, choice, counts }: ListedProps & { readonly live: Live<Rows<Task>> }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const choose = (ids: ReadonlySet<string>) => {
    chosen.value = ids;
  };
  return (
    <Shown live={live}>
      {({ rows, unreadable }) => {
        const found = rows.filter(
          (task) => has(task, words) && (owner === undefined || task.owner_uid === owner),
        );
        const all = countOf(choice, counts);
        return (
          <>
            {rows.length === 0 ? (
              <Empty title={choice === 'open' ? 'Nothing is open.' : `Nothing is ${choice}.`}>
                {choice === 'open' && (
                  <p>
                    Look at what is <a href={addressOf(['tasks'], { show: 'done' })}>done</a>, or have an
                    agent plan more with create_tasks_batch.
                  </p>
                )}
              </Empty>
            ) : (
              <>
                <Chosen tasks={found.filter(({ id }) => chosen.value.has(id))} choose={choose} />
                <TaskTable tasks={found} chosen={chosen.value} choose={choose} />
              </>
            )}
            <p class="soft" role="status">
              {found.length < rows.length && `${found.length} of these ${rows.length} are shown. `}
              {all > rows.length &&
                `The ${rows.length} ${choice === 'open' ? 'oldest' : 'latest'} of ${all}. `}
              {unreadable > 0 && `${unreadable} could not be read.`}
            </p>
          </>
        );
      }}
    </Shown>
  );
}

function has(task: Task, words: string): boolean {
  const sought = folded(words.trim());
  return (
    sought === '' ||
    [
      task.description,
      task.id,
      task.claimed_by ?? '',
      stateOf(task),
      task.coding === null ? '' : 'coding',
    ].some((text) => folded(text).includes(sought))
  );
}
