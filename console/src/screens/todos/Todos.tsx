/** A person's to-dos: today, this week, all. Rows can be dragged to another day. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { shell } from '../../../text/shell.ts';
import { todos as text } from '../../../text/todos.ts';
import { fill, timeOfDay } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { recurringDocument, type Todo, todoDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { merged } from '../../live/paging.ts';
import { doneTodos, dueTodos, recurringOf, undatedTodos } from '../../live/queries.ts';
import { isOffline } from '../../live/sources.ts';
import { type Paged, rowsOf } from '../../live/states.ts';
import { now } from '../../live/time.ts';
import { tellError } from '../../parts/acting.tsx';
import { Bones } from '../../parts/Bones.tsx';
import { Choices } from '../../parts/Choices.tsx';
import { headOf, More, MoreOf } from '../../parts/More.tsx';
import { Near } from '../../parts/Near.tsx';
import { Empty, Section, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { addressOf, ask, parameter } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { PAGES } from '../../shell/screens.ts';
import { AddTodo } from './AddTodo.tsx';
import { type Day, days, type View } from './days.ts';
import { Recurring } from './Recurring.tsx';
import { reschedule } from './reschedule.ts';
import { TodoRow } from './TodoRow.tsx';

const VIEWS = [
  ['today', text.today],
  ['week', text.week],
  ['all', text.all],
] as const;

const DONE = z.object({});

export function Todos({ person }: { readonly person: Person }) {
  const view: View = VIEWS.find(([name]) => name === parameter('show'))?.[0] ?? 'today';
  const due = usePaged(dueTodos(person.uid), todoDocument);
  const undated = usePaged(undatedTodos(person.uid), todoDocument);
  const recurring = usePaged(recurringOf(person.uid), recurringDocument);
  const cut = { dated: due.more !== undefined, undated: undated.more !== undefined };
  const both = merged([due, undated]);
  return (
    <Page
      title={shell.todos}
      actions={
        <Choices
          legend={text.show}
          options={VIEWS}
          chosen={view}
          choose={(name) => ask('show', name === 'today' ? undefined : name)}
        />
      }>
      <AddTodo />
      <div class="split">
        <div>
          <Shown live={both.live} what={shell.todos.toLowerCase()} bones={<Bones lines={6} />}>
            {({ rows }) => {
              const groups = days(rows, view, new Date(now.value), cut);
              if (groups.length === 0) {
                return (
                  <div class="card">
                    <Empty icon="todo" title={view === 'today' ? text.noneToday : text.none} hint={text.noneHint} />
                  </div>
                );
              }
              return (
                <div class="card rows">
                  {groups.map((day) => (
                    <DayGroup key={day.title} day={day} all={rows} of={day.isDated ? due : undated} />
                  ))}
                </div>
              );
            }}
          </Shown>
          {/* Each day has its own button for more. */}
          <MoreOf what={shell.todos.toLowerCase()} of={{ ...both, more: undefined }} />
        </div>
        <div>
          <Section title={text.repeating} count={headOf(recurring)}>
            <Shown live={recurring.live} what={text.repeating.toLowerCase()}>
              {({ rows }) => <Recurring rows={rows} />}
            </Shown>
            <MoreOf what={text.repeating.toLowerCase()} of={recurring} />
          </Section>
          <DoneToday done={usePaged(doneTodos(person.uid), todoDocument)} />
        </div>
      </div>
    </Page>
  );
}

interface DayGroupProps {
  readonly day: Day;
  readonly all: readonly Todo[];
  /** Loaded list that contains the day. */
  readonly of: Paged<Todo>;
}

/** Group of a day. A row that is dropped on it gets its date, and keeps its time of day. */
function DayGroup({ day: { title, date, todos, isTruncated, isLate }, all, of }: DayGroupProps) {
  const isOver = useSignal(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    isOver.value = false;
    const todo = all.find(({ id }) => id === event.dataTransfer?.getData('text/plain'));
    if (todo !== undefined) void reschedule(todo, date);
  };
  return (
    <section
      aria-label={title}
      class={isOver.value ? 'over' : ''}
      onDragOver={(event) => {
        if (isLate || isOffline.value) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={drop}>
      <h2 class={`row group ${isLate ? 'bad' : ''}`}>
        {title}
        <span class="count">{isTruncated ? `${todos.length}+` : todos.length}</span>
      </h2>
      <ul class="rows">
        {todos.map((todo) => (
          <TodoRow key={todo.id} todo={todo} isLate={isLate} />
        ))}
      </ul>
      {isTruncated && <MoreOf what={shell.todos.toLowerCase()} of={of} />}
    </section>
  );
}

function DoneToday({ done }: { readonly done: Paged<Todo> }) {
  const start = new Date(now.value).setHours(0, 0, 0, 0);
  const today = rowsOf(done).filter(({ completed_at: at }) => at !== null && at.getTime() >= start);
  const isMore = today.length > 0 && today.length === rowsOf(done).length;
  return (
    <Section title={text.doneToday} count={today.length}>
      <Shown live={done.live} what={text.doneToday.toLowerCase()}>
        {() =>
          today.length === 0 ? (
            <p class="soft">{text.nothingYet}</p>
          ) : (
            <ul class="card rows">
              {today.map((todo) => (
                <Near key={todo.id} class="row">
                  <button
                    type="button"
                    class="circle good"
                    aria-label={fill(text.reopenOf, { title: todo.title })}
                    disabled={isOffline.value}
                    onClick={() => void act('todo.reopen_task', { task_id: todo.id }, DONE).catch(tellError)}>
                    <Icon of="is-done" />
                  </button>
                  <a class="grow faint" href={addressOf([PAGES.todo, todo.id])}>
                    <UserText text={todo.title} limit={140} />
                  </a>
                  <span class="soft nowrap num">{todo.completed_at !== null && timeOfDay(todo.completed_at)}</span>
                </Near>
              ))}
            </ul>
          )
        }
      </Shown>
      <More what={text.doneToday.toLowerCase()} more={isMore ? done.more : undefined} />
    </Section>
  );
}
