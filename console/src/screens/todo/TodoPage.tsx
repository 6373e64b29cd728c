/** One to-do: edit form, reminder, delegation to agents and its result, cost. */
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { shell } from '../../../text/shell.ts';
import { todos as text } from '../../../text/todos.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { fill } from '../../../ui/format.ts';
import { Entry, Menu } from '../../../ui/Menu.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { undoLatest } from '../../calls/undoing.ts';
import { type Todo, todoDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { todo as todoQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { now } from '../../live/time.ts';
import { ActionButton, ActionEntry } from '../../parts/acting.tsx';
import { CopyLink } from '../../parts/Copy.tsx';
import { Section } from '../../parts/Notice.tsx';
import { DetailPage } from '../../parts/Page.tsx';
import { agoText } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { Tree } from '../../parts/Tree.tsx';
import { addressOf, go } from '../../router.ts';
import { EditTodo } from './EditTodo.tsx';
import { Reminder } from './Reminder.tsx';

const DONE = z.object({});
const callOf = (todo: Todo) => (method: string) => act(`todo.${method}`, { task_id: todo.id }, DONE);

export function TodoPage({ id }: { readonly id: string }) {
  const live = useLive(document(todoQuery(id), todoDocument));
  return (
    <DetailPage
      list={['todos', shell.todos]}
      kind={text.kind}
      live={live}
      titleOf={({ title }) => title}
      actions={(todo) => <Actions todo={todo} />}>
      {(todo) => <Whole todo={todo} />}
    </DetailPage>
  );
}

function Actions({ todo }: { readonly todo: Todo }) {
  const call = callOf(todo);
  return (
    <>
      {!todo.completed && todo.delegated_task_id === null && (
        <ActionButton icon="agent" label={text.assign} act={() => call('delegate')} />
      )}
      {todo.completed ? (
        <ActionButton kind="primary" icon="undo" label={text.reopen} act={() => call('reopen_task')} />
      ) : (
        <ActionButton
          kind="primary"
          icon="check"
          label={text.markDone}
          done={fill(text.done, { title: todo.title })}
          act={() => call('complete_task')}
          undo={() => call('reopen_task')}
        />
      )}
      <Menu label={common.moreActions}>
        <CopyLink />
        <Entry icon="audit" label={common.viewHistory} href={addressOf(['audit'], { thing: `todo:${todo.id}` })} />
        <hr />
        <ActionEntry
          icon="trash"
          kind="danger"
          label={text.delete}
          done={fill(text.deleted, { title: todo.title })}
          act={async () => {
            await call('delete_task');
            go(addressOf(['todos']));
          }}
          undo={() => undoLatest(`todo:${todo.id}`)}
        />
      </Menu>
    </>
  );
}

function Whole({ todo }: { readonly todo: Todo }) {
  return (
    <div class="split">
      <div>
        <div class="intro">
          <h1>
            <UserText text={todo.title} />
          </h1>
          <p class="sentence">
            <Sentence todo={todo} />
          </p>
          {todo.description !== null && (
            <p class="prose lines">
              <UserText text={todo.description} links />
            </p>
          )}
        </div>
        {todo.delegated_result !== null && (
          <Section title={text.result} isCard>
            <p class="row lines">
              <UserText text={todo.delegated_result} links />
            </p>
          </Section>
        )}
        {/* The form is created again after each save, because its fields start with the stored values. */}
        {!todo.completed && <EditTodo key={versionOf(todo)} todo={todo} />}
      </div>
      <aside class="aside" aria-label={common.properties}>
        {!todo.completed && <Reminder todo={todo} />}
        <Section title={text.agents}>
          {todo.delegated_task_id === null ? (
            <p class="soft">{text.noAgents}</p>
          ) : (
            <p>
              <Fill text={text.assignedAs} with={{ task: <TaskTitle id={todo.delegated_task_id} /> }} />
            </p>
          )}
        </Section>
        <Tree kind="todo" id={todo.id} version={`${todo.completed} ${todo.delegated_task_id}`} />
      </aside>
    </div>
  );
}

function versionOf({ title, description, due_date, priority, tags }: Todo): string {
  return JSON.stringify([title, description, due_date, priority, tags]);
}

function Sentence({ todo: { completed, completed_at: end, due_date: due } }: { readonly todo: Todo }) {
  const isLate = !completed && due !== null && due.getTime() < now.value;
  const when = (at: Date) => agoText(at, now.value);
  return (
    <>
      <State of={completed ? 'done' : isLate ? 'overdue' : 'open'} pill />
      <span>
        {end !== null
          ? fill(text.wasDone, { when: when(end) })
          : due === null
            ? text.notDue
            : fill(isLate ? text.wasDue : text.isDue, { when: when(due) })}
      </span>
    </>
  );
}
