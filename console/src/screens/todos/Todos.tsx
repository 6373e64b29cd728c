/** A person's to-dos: today, this week, all. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { recurringDocument, type Todo, todoDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { merged } from '../../live/paging.ts';
import { doneTodos, dueTodos, recurringOf, undatedTodos } from '../../live/queries.ts';
import { now } from '../../live/time.ts';
import { Choices } from '../../parts/Choices.tsx';
import { dayOf, timeOfDay } from '../../parts/dates.ts';
import { More, MoreOf } from '../../parts/More.tsx';
import { Card, Empty, Shown } from '../../parts/Notice.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { ask, parameter } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { AddTodo } from './AddTodo.tsx';
import { days, type View } from './days.ts';
import { Recurring } from './Recurring.tsx';
import { TodoRow } from './TodoRow.tsx';

const VIEWS = [
  ['today', 'Today'],
  ['week', 'Week'],
  ['all', 'All'],
] as const;

/** Time for which the row of a completed to-do offers Undo. */
const UNDO_MS = 10_000;

interface Completed {
  readonly todo: Todo;
  readonly at: number;
}

export function Todos({ person }: { readonly person: Person }) {
  const view: View = VIEWS.find(([name]) => name === parameter('show'))?.[0] ?? 'today';
  const due = usePaged(dueTodos(person.uid), todoDocument);
  const undated = usePaged(undatedTodos(person.uid), todoDocument);
  const done = usePaged(doneTodos(person.uid), todoDocument);
  const recurring = usePaged(recurringOf(person.uid), recurringDocument);
  const cut = { dated: due.more !== undefined, undated: undated.more !== undefined };
  const completed = useSignal<Completed | undefined>(undefined);
  return (
    <>
      <div class="title">
        <h1>To-dos</h1>
        <Choices
          legend="Which to-dos"
          options={VIEWS}
          chosen={view}
          choose={(name) => ask('show', name === 'today' ? undefined : name)}
        />
      </div>
      <AddTodo />
      <Undo completed={completed.value} forget={() => (completed.value = undefined)} />
      <Shown live={merged([due, undated]).live}>
        {({ rows, unreadable }) => {
          const groups = days(rows, view, new Date(now.value), cut);
          return (
            <>
              {groups.length === 0 && (
                <Empty title={view === 'today' ? 'Nothing is due today.' : 'Nothing is to do.'}>
                  <p>Add something above, or have an agent do it with todo_add_task.</p>
                </Empty>
              )}
              {groups.map(({ title, todos, isTruncated }) => (
                <Card key={title} title={title} count={isTruncated ? `${todos.length}+` : todos.length}>
                  <ul class="plain rows">
                    {todos.map((todo) => (
                      <TodoRow key={todo.id} todo={todo} done={() => (completed.value = { todo, at: Date.now() })} />
                    ))}
                  </ul>
                  <More
                    what="to-dos"
                    more={isTruncated ? (todos[0]?.due_date === null ? undated.more : due.more) : undefined}
                  />
                </Card>
              ))}
              {unreadable > 0 && <p class="soft">{`${unreadable} could not be read.`}</p>}
            </>
          );
        }}
      </Shown>
      <Card title="Done today">
        <Shown live={done.live}>
          {({ rows }) => {
            const today = rows.filter(({ completed_at: at }) => at !== null && isToday(at));
            if (today.length === 0) return <p class="soft">Nothing yet.</p>;
            return (
              <>
                <ul class="plain rows">
                  {today.map((todo) => (
                    <li key={todo.id}>
                      ✓ <UserText text={todo.title} />{' '}
                      <span class="soft">{timeOfDay(todo.completed_at ?? new Date(now.value))}</span>
                    </li>
                  ))}
                </ul>
                <More what="done to-dos" more={today.length === rows.length ? done.more : undefined} />
              </>
            );
          }}
        </Shown>
      </Card>
      <Card title="Comes again">
        <Shown live={recurring.live}>{({ rows }) => <Recurring rows={rows} />}</Shown>
        <MoreOf what="to-dos that come again" of={recurring} />
      </Card>
    </>
  );
}

function isToday(at: Date): boolean {
  return dayOf(at) === dayOf(new Date(now.value));
}

function Undo({ completed, forget }: { readonly completed: Completed | undefined; forget(): void }) {
  const trouble = useSignal<string | undefined>(undefined);
  const isOver = completed === undefined || now.value - completed.at > UNDO_MS;
  return (
    <p class="undo" role="status">
      {!isOver && (
        <>
          Done: <UserText text={completed.todo.title} />.{' '}
          <button
            type="button"
            class="plain"
            onClick={() => {
              act('todo.reopen_task', { task_id: completed.todo.id }, z.object({})).then(forget, (error) => {
                trouble.value = error instanceof Error ? error.message : String(error);
              });
            }}
          >
            Undo
          </button>
        </>
      )}
      {trouble.value !== undefined && <span class="trouble">{trouble.value}</span>}
    </p>
  );
}
