/** A person's to-dos: today, this week, all. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { recurringDocument, type Todo, todoDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { doneTodos, openTodos, recurringOf } from '../../live/queries.ts';
import { documents } from '../../live/sources.ts';
import { now } from '../../live/time.ts';
import { Choices } from '../../parts/Choices.tsx';
import { dayOf, timeOfDay } from '../../parts/dates.ts';
import { Card, Empty, Shown } from '../../parts/Notice.tsx';
import { Words } from '../../parts/Words.tsx';
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

/** How long what was completed can be taken back beside its place. */
const UNDO_MILLISECONDS = 10_000;

interface Completed {
  readonly todo: Todo;
  readonly at: number;
}

export function Todos({ person }: { readonly person: Person }) {
  const view: View = VIEWS.find(([name]) => name === parameter('show'))?.[0] ?? 'today';
  const open = useLive(documents(openTodos(person.uid), todoDocument));
  const done = useLive(documents(doneTodos(person.uid), todoDocument));
  const recurring = useLive(documents(recurringOf(person.uid), recurringDocument));
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
      <Shown live={open}>
        {({ rows, unreadable }) => {
          const groups = days(rows, view, new Date(now.value));
          return (
            <>
              {groups.length === 0 && (
                <Empty title={view === 'today' ? 'Nothing is due today.' : 'Nothing is to do.'}>
                  <p>Add something above, or have an agent do it with todo_add_task.</p>
                </Empty>
              )}
              {groups.map(({ title, todos }) => (
                <Card key={title} title={title} count={todos.length}>
                  <ul class="plain rows">
                    {todos.map((todo) => (
                      <TodoRow
                        key={todo.id}
                        todo={todo}
                        done={() => (completed.value = { todo, at: Date.now() })}
                      />
                    ))}
                  </ul>
                </Card>
              ))}
              {unreadable > 0 && <p class="soft">{`${unreadable} could not be read.`}</p>}
            </>
          );
        }}
      </Shown>
      <Card title="Done today">
        <Shown live={done}>
          {({ rows }) => {
            const today = rows.filter(({ completed_at: at }) => at !== null && isToday(at));
            return today.length === 0 ? (
              <p class="soft">Nothing yet.</p>
            ) : (
              <ul class="plain rows">
                {today.map((todo) => (
                  <li key={todo.id}>
                    ✓ <Words text={todo.title} />{' '}
                    <span class="soft">{todo.completed_at === null ? '' : timeOfDay(todo.completed_at)}</span>
                  </li>
                ))}
              </ul>
            );
          }}
        </Shown>
      </Card>
      <Card title="Comes again">
        <Shown live={recurring}>{({ rows }) => <Recurring rows={rows} />}</Shown>
      </Card>
    </>
  );
}

function isToday(at: Date): boolean {
  return dayOf(at) === dayOf(new Date(now.value));
}

function Undo({ completed, forget }: { readonly completed: Completed | undefined; forget(): void }) {
  const trouble = useSignal<string | undefined>(undefined);
  const isOver = completed === undefined || now.value - completed.at > UNDO_MILLISECONDS;
  return (
    <p class="undo" role="status">
      {!isOver && (
        <>
          Done: <Words text={completed.todo.title} />.{' '}
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
