/** One to-do: edit form, reminder, delegation to agents, and usage. */
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { type Todo, todoDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { todo as todoQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { DetailPage } from '../../parts/DetailPage.tsx';
import { Card } from '../../parts/Notice.tsx';
import { Ago, Status } from '../../parts/Status.tsx';
import { Tree } from '../../parts/Tree.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf, go } from '../../router.ts';
import { EditTodo } from './EditTodo.tsx';
import { Reminder } from './Reminder.tsx';

export function TodoPage({ id }: { readonly id: string }) {
  const live = useLive(document(todoQuery(id), todoDocument));
  return (
    <DetailPage list={['todos', 'To-dos']} kind="to-do" id={id} live={live}>
      {(todo) => <Whole todo={todo} />}
    </DetailPage>
  );
}

function Whole({ todo }: { readonly todo: Todo }) {
  const call = (method: string) => act(`todo.${method}`, { task_id: todo.id }, z.object({}));
  return (
    <>
      <h1>
        <UserText text={todo.title} />
      </h1>
      <p class="sentence">
        <Sentence todo={todo} />
      </p>
      {todo.description !== null && (
        <pre class="text">
          <UserText text={todo.description} links />
        </pre>
      )}
      <p class="acts">
        {todo.completed ? (
          <ActionButton label="Open it again" kind="primary" act={() => call('reopen_task')} />
        ) : (
          <ActionButton label="Done" kind="primary" act={() => call('complete_task')} />
        )}
        {!todo.completed && todo.delegated_task_id === null && (
          <ActionButton label="Have agents do it" act={() => call('delegate')} />
        )}
        <ActionButton
          label="Delete"
          kind="danger"
          consequence={`“${todo.title}” is deleted. You can undo this in the audit log.`}
          act={async () => {
            await call('delete_task');
            go(addressOf(['todos']));
          }}
        />
      </p>
      <p>
        <a href={addressOf(['audit'], { thing: `todo:${todo.id}` })}>Who has done what to it</a>
      </p>
      {/* The form is created again after each save, because its fields start with the stored values. */}
      {!todo.completed && <EditTodo key={versionOf(todo)} todo={todo} />}
      {!todo.completed && <Reminder todo={todo} />}
      {todo.delegated_result !== null && (
        <Card title="Result">
          <pre class="text">
            <UserText text={todo.delegated_result} links />
          </pre>
        </Card>
      )}
      <Tree kind="todo" id={todo.id} version={`${todo.completed} ${todo.delegated_task_id}`} />
    </>
  );
}

function versionOf({ title, description, due_date, priority, tags }: Todo): string {
  return JSON.stringify([title, description, due_date, priority, tags]);
}

function Sentence({ todo: { completed, completed_at, due_date, delegated_task_id: task } }: { readonly todo: Todo }) {
  return (
    <>
      <Status of={completed ? 'done' : 'open'} />
      {completed_at !== null && (
        <>
          {' '}
          <Ago at={completed_at} />
        </>
      )}
      {!completed && due_date !== null && (
        <>
          , due <Ago at={due_date} />
        </>
      )}
      {task !== null && (
        <>
          , done by agents as <a href={addressOf(['t', task])}>{task}</a>
        </>
      )}
    </>
  );
}
