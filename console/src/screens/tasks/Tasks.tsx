/** Tasks of the open session, as a table, board or graph. */
import { useSignal } from '@preact/signals';
import { folded } from '../../../../functions/src/kernel/textSearch.ts';
import {
  type ClosedStatus,
  type SessionScope,
  useClosedTasks,
  useCounts,
  useOpenTasks,
  useSessionId,
} from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import { OPEN_STATUSES } from '../../live/queries.ts';
import type { Counts, Paged } from '../../live/states.ts';
import { Choices } from '../../parts/Choices.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { MoreOf } from '../../parts/More.tsx';
import { Absent, Empty, Shown } from '../../parts/Notice.tsx';
import { stateOf } from '../../parts/taskState.ts';
import { type BulkAction, Progress, useBulkAction } from '../../parts/useBulkAction.tsx';
import { addressOf, ask, parameter, workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { Board } from './Board.tsx';
import { BulkActions } from './BulkActions.tsx';
import { TaskTable } from './TaskTable.tsx';

const Graph = lazy(async () => (await import('./Graph.tsx')).Graph);

/** Filters. Each is a separate query, so that no limit hides matches. */
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
  return <SessionTasks where={{ here, session: sessionId.value }} person={person} />;
}

function SessionTasks({ where, person }: { readonly where: SessionScope; readonly person: Person }) {
  const shown = CHOICES.find(([name]) => name === parameter('show'))?.[0] ?? 'open';
  const view = VIEWS.find(([name]) => name === parameter('view'))?.[0] ?? 'table';
  const counts = useCounts(where);
  const numbers = 'value' in counts ? counts.value : {};
  const words = useSignal('');
  const many = useBulkAction();
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
      {view === 'graph' && <Graph where={where} />}
      {view === 'board' && <Board where={where} />}
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
              <input type="search" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
            </label>
          </div>
          <Progress of={many} />
          <Listed
            key={shown}
            where={where}
            choice={shown}
            words={words.value}
            owner={isMineAlone ? person.uid : undefined}
            many={many}
          />
        </>
      )}
    </>
  );
}

function countOf(choice: Choice, counts: Counts): number {
  return (choice === 'open' ? OPEN_STATUSES : [choice]).reduce((sum, status) => sum + (counts[status] ?? 0), 0);
}

interface ListedProps {
  readonly where: SessionScope;
  readonly choice: Choice;
  readonly words: string;
  /** Owner of the shown tasks; undefined if the tasks of all owners are shown. */
  readonly owner: string | undefined;
  readonly many: BulkAction;
}

function Listed({ choice, ...props }: ListedProps) {
  return choice === 'open' ? <OpenTasks {...props} choice={choice} /> : <ClosedTasks {...props} choice={choice} />;
}

function OpenTasks(props: ListedProps) {
  return <Found tasks={useOpenTasks(props.where)} {...props} />;
}

function ClosedTasks(props: ListedProps & { readonly choice: ClosedStatus }) {
  return <Found tasks={useClosedTasks(props.where, props.choice)} {...props} />;
}

function Found({ tasks, words, owner, choice, many }: ListedProps & { readonly tasks: Paged<Task> }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const choose = (ids: ReadonlySet<string>) => {
    chosen.value = ids;
  };
  return (
    <Shown live={tasks.live}>
      {({ rows, unreadable }) => {
        const found = rows.filter((task) => has(task, words) && (owner === undefined || task.owner_uid === owner));
        return (
          <>
            {rows.length === 0 ? (
              <Empty title={choice === 'open' ? 'Nothing is open.' : `Nothing is ${choice}.`}>
                {choice === 'open' && (
                  <p>
                    Look at what is <a href={addressOf(['tasks'], { show: 'done' })}>done</a>, or have an agent plan
                    more with create_tasks_batch.
                  </p>
                )}
              </Empty>
            ) : (
              <>
                <BulkActions tasks={found.filter(({ id }) => chosen.value.has(id))} many={many} choose={choose} />
                <TaskTable tasks={found} chosen={chosen.value} choose={choose} />
              </>
            )}
            <p class="soft" role="status">
              {found.length < rows.length && `${found.length} of these ${rows.length} are shown. `}
              {unreadable > 0 && `${unreadable} could not be read.`}
            </p>
            <MoreOf what="tasks" of={tasks} />
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
    [task.description, task.id, task.claimed_by ?? '', stateOf(task), task.coding === null ? '' : 'coding'].some(
      (text) => folded(text).includes(sought),
    )
  );
}
