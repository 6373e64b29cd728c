/** Tasks of the open session, as a table, board or graph. Filters are in the address. */
import { useSignal } from '@preact/signals';
import { folded } from '../../../../functions/src/kernel/textSearch.ts';
import { needsYou } from '../../../text/needsYou.ts';
import { shell } from '../../../text/shell.ts';
import { tasks as text } from '../../../text/tasks.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { fill, number } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import * as live from '../../live/coordination.ts';
import { archivedSessionDocument, type Task } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { merged } from '../../live/paging.ts';
import { archivedSession, OPEN_STATUSES } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { type Paged, rowsOf } from '../../live/states.ts';
import { Bones } from '../../parts/Bones.tsx';
import { Choices } from '../../parts/Choices.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { headOf, MoreOf } from '../../parts/More.tsx';
import { Absent, Empty, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { stateOf } from '../../parts/taskState.ts';
import { type BulkAction, Progress, useBulkAction } from '../../parts/useBulkAction.tsx';
import { addressOf, ask, parameter, workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { mayAs } from '../../shell/role.ts';
import { Board } from './Board.tsx';
import { BulkActions } from './BulkActions.tsx';
import { NewGoal } from './NewGoal.tsx';
import { NewTask } from './NewTask.tsx';
import { nextSorting, sortingIn } from './rows.ts';
import { TaskTable } from './TaskTable.tsx';
import { columns as chosenColumns, ViewMenu } from './ViewMenu.tsx';

const Graph = lazy(async () => (await import('./Graph.tsx')).Graph);

/** Filters by state. Each is a separate query, so that no limit hides matches. */
const CHOICES = [
  ['open', text.open],
  ['done', text.done],
  ['failed', text.failed],
  ['cancelled', text.cancelled],
] as const;

const VIEWS = [
  ['table', text.table, 'table'],
  ['board', text.board, 'board'],
  ['graph', text.graph, 'run'],
] as const;

type Choice = (typeof CHOICES)[number][0];

export function Tasks({ person }: { readonly person: Person }) {
  const here = workspace.value;
  const sessionId = live.useSessionId(here);
  if (!('value' in sessionId)) {
    return (
      <Page title={shell.tasks}>
        <Absent live={sessionId} what={shell.tasks.toLowerCase()} bones={<Bones lines={8} />} />
      </Page>
    );
  }
  if (sessionId.value === undefined && parameter('goal') === undefined) {
    return (
      <Page title={shell.tasks}>
        <Empty icon="tasks" title={needsYou.noTasks} hint={text.noTasksHint}>
          {mayAs('leader') && <NewGoal kind="primary" />}
          {mayAs('leader') && <NewTask tasks={[]} />}
        </Empty>
      </Page>
    );
  }
  const earlier = parameter('goal');
  return <SessionTasks where={{ here, session: earlier ?? sessionId.value }} person={person} />;
}

interface SessionTasksProps {
  readonly where: live.SessionScope;
  readonly person: Person;
}

function SessionTasks({ where, person }: SessionTasksProps) {
  const view = VIEWS.find(([name]) => name === parameter('view'))?.[0] ?? 'table';
  const open = live.useOpenTasks(where);
  const isEarlier = parameter('goal') !== undefined;
  const actions = (
    <>
      <Choices
        legend={text.view}
        options={VIEWS}
        chosen={view}
        choose={(name) => ask('view', name === 'table' ? undefined : name)}
      />
      {mayAs('leader') && !isEarlier && <NewTask tasks={rowsOf(open)} kind="primary" />}
    </>
  );
  const keep = filterOf(person.uid);
  return (
    <Page title={shell.tasks} actions={actions} isFilling={view !== 'table'}>
      {isEarlier && <EarlierGoal where={where} />}
      <Filters where={where} hasStates={view === 'table'} />
      {view === 'graph' && <Graph where={where} keep={keep} />}
      {view === 'board' && <Board where={where} keep={keep} />}
      {view === 'table' && <Table where={where} keep={keep} />}
    </Page>
  );
}

function EarlierGoal({ where: { here, session = '' } }: { readonly where: live.SessionScope }) {
  const archived = useLive(document(archivedSession(here, session), archivedSessionDocument));
  const goal = 'value' in archived ? (archived.value?.goal ?? session) : session;
  return (
    <p class="notice">
      <Icon of="flag" />
      <span>
        <Fill text={text.earlierGoal} with={{ goal: <UserText text={goal} limit={200} /> }} />{' '}
        <a class="link" href={addressOf(['tasks'])}>
          {text.presentGoal}
        </a>
      </span>
    </p>
  );
}

/** Returns whether a task is shown with the filters of the address. */
function filterOf(uid: string): (task: Task) => boolean {
  const words = folded((parameter('q') ?? '').trim());
  const owner = parameter('mine') === undefined ? undefined : uid;
  return (task) => has(task, words) && (owner === undefined || task.owner_uid === owner);
}

function has(task: Task, words: string): boolean {
  if (words === '') return true;
  const texts = [task.description, task.id, task.claimed_by ?? '', stateOf(task), ...task.required_capabilities];
  return texts.some((one) => folded(one).includes(words));
}

function Filters({ where, hasStates }: { readonly where: live.SessionScope; readonly hasStates: boolean }) {
  const counts = live.useCounts(where);
  const shown = shownChoice();
  const isMine = parameter('mine') !== undefined;
  const countOf = (choice: Choice) => {
    const count = live.countIn(counts, choice === 'open' ? OPEN_STATUSES : [choice]);
    return count === undefined ? undefined : number(count);
  };
  return (
    <div class="filters">
      {hasStates && (
        <Choices
          legend={text.show}
          options={CHOICES}
          chosen={shown}
          countOf={countOf}
          choose={(name) => ask('show', name === 'open' ? undefined : name)}
        />
      )}
      <button type="button" class="chip" aria-pressed={isMine} onClick={() => ask('mine', isMine ? undefined : 'yes')}>
        <Icon of="agent" small />
        {text.mine}
      </button>
      <label class="search push">
        <span class="away">{text.filter}</span>
        <Icon of="search" />
        <input
          class="input"
          type="search"
          placeholder={text.filter}
          value={parameter('q') ?? ''}
          onInput={({ currentTarget: { value } }) => ask('q', value === '' ? undefined : value)}
        />
      </label>
      <ViewMenu hasColumns={hasStates} />
    </div>
  );
}

const shownChoice = (): Choice => CHOICES.find(([name]) => name === parameter('show'))?.[0] ?? 'open';

interface TableProps {
  readonly where: live.SessionScope;
  keep(task: Task): boolean;
}

function Table(props: TableProps) {
  const choice = shownChoice();
  const many = useBulkAction();
  return (
    <>
      <div class="stay">
        <Progress of={many} />
      </div>
      {choice === 'open' ? (
        <OpenTasks key={choice} {...props} many={many} choice={choice} />
      ) : (
        <ClosedTasks key={choice} {...props} many={many} choice={choice} />
      )}
    </>
  );
}

interface ListProps extends TableProps {
  readonly many: BulkAction;
}

function OpenTasks(props: ListProps & { readonly choice: 'open' }) {
  const { held, claimable, blocked } = live.useOpenParts(props.where);
  return <Found {...props} parts={[held, claimable, blocked]} />;
}

const ClosedTasks = (props: ListProps & { readonly choice: live.ClosedStatus }) => (
  <Found {...props} parts={[live.useClosedTasks(props.where, props.choice)]} />
);

interface FoundProps extends ListProps {
  readonly parts: readonly Paged<Task>[];
  readonly choice: Choice;
}

function Found({ parts, choice, keep, many }: FoundProps) {
  const tasks = merged(parts);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const choose = (ids: ReadonlySet<string>) => (chosen.value = ids);
  const sorting = sortingIn(parameter('sort'));
  return (
    <Shown live={tasks.live} what={shell.tasks.toLowerCase()} bones={<Bones lines={8} />}>
      {({ rows }) => {
        const found = rows.filter(keep);
        const countOf = (state: string, loaded: number) => {
          const part = parts.find((one) => rowsOf(one).some((task) => stateOf(task) === state));
          if (part?.more === undefined || found.length < rows.length) return number(loaded);
          // A partly loaded list with several states has a number only for all of them.
          return (loaded === rowsOf(part).length && headOf(part)) || `${number(loaded)}+`;
        };
        if (rows.length === 0) {
          return (
            <>
              <NoTasks choice={choice} />
              <MoreOf what={shell.tasks.toLowerCase()} of={tasks} />
            </>
          );
        }
        return (
          <>
            <TaskTable
              tasks={found}
              columns={chosenColumns.value}
              sorting={sorting}
              countOf={countOf}
              chosen={chosen.value}
              choose={choose}
              sort={(column) => ask('sort', nextSorting(sorting, column))}
            />
            {found.length < rows.length && (
              <p class="soft" role="status">
                {fill(text.matches, { found: number(found.length), n: number(rows.length) })}
              </p>
            )}
            <MoreOf what={shell.tasks.toLowerCase()} of={tasks} />
            <BulkActions tasks={found.filter(({ id }) => chosen.value.has(id))} many={many} choose={choose} />
          </>
        );
      }}
    </Shown>
  );
}

function NoTasks({ choice }: { readonly choice: Choice }) {
  if (choice !== 'open') return <Empty icon="tasks" title={fill(text.none, { state: text[choice].toLowerCase() })} />;
  return (
    <Empty icon="tasks" title={text.noneOpen} hint={text.noneOpenHint}>
      <a class="b" href={addressOf(['tasks'], { show: 'done' })}>
        {text.seeDone}
      </a>
    </Empty>
  );
}
