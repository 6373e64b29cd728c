/** Form to edit a to-do. Sends only changed fields. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { todos as text } from '../../../text/todos.ts';
import { localInstant } from '../../../ui/format.ts';
import { act } from '../../calls/tools.ts';
import type { Todo } from '../../live/documents.ts';
import { isOffline } from '../../live/sources.ts';
import { ErrorNotice, tell } from '../../parts/acting.tsx';
import { Field } from '../../parts/Field.tsx';

export function EditTodo({ todo }: { readonly todo: Todo }) {
  const trouble = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);

  async function save(form: HTMLFormElement) {
    const edit = changesIn(new FormData(form), todo);
    trouble.value = undefined;
    if (Object.keys(edit).length === 0) return;
    isBusy.value = true;
    try {
      await act('todo.update_task', { task_id: todo.id, ...edit }, z.object({}));
      tell(text.saved);
    } catch (error) {
      trouble.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  const isChanged = useSignal(false);
  return (
    <form
      class="stack prose"
      aria-label={text.edit}
      onInput={(event) =>
        (isChanged.value = Object.keys(changesIn(new FormData(event.currentTarget), todo)).length > 0)
      }
      onSubmit={(event) => {
        event.preventDefault();
        void save(event.currentTarget);
      }}>
      <Field label={text.title}>
        {(field) => (
          <input
            {...field}
            name="title"
            required
            pattern=".{0,500}"
            title={text.titleLimit}
            defaultValue={todo.title}
            autocomplete="off"
          />
        )}
      </Field>
      <Field label={text.description}>
        {(field) => (
          <textarea
            {...field}
            name="description"
            placeholder={text.addDescription}
            defaultValue={todo.description ?? ''}
          />
        )}
      </Field>
      <div class="two">
        <Field label={text.due}>
          {(field) => <input {...field} name="due" type="datetime-local" defaultValue={localInstant(todo.due_date)} />}
        </Field>
        <Field label={text.priority}>
          {(field) => (
            <select {...field} name="priority">
              {Object.entries(text.priorities).map(([name, label]) => (
                <option key={name} value={name} selected={name === todo.priority}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label={text.tags} hint={text.tagsHint}>
        {(field) => <input {...field} name="tags" defaultValue={todo.tags.join(', ')} autocomplete="off" />}
      </Field>
      <p class="acts">
        <button type="submit" class="b" disabled={isBusy.value || !isChanged.value || isOffline.value}>
          {common.save}
        </button>
      </p>
      {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
    </form>
  );
}

function changesIn(data: FormData, todo: Todo): Readonly<Record<string, unknown>> {
  const text = (name: string) => String(data.get(name) ?? '').trim();
  const tags = text('tags')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const due = text('due');
  const [isDescribed, isDue] = [text('description') !== '', due !== ''];
  const removed = [
    ...(!isDescribed && todo.description ? ['description'] : []),
    ...(!isDue && todo.due_date ? ['due_date'] : []),
  ];
  return {
    ...(text('title') !== todo.title && { title: text('title') }),
    ...(isDescribed && text('description') !== (todo.description ?? '') && { description: text('description') }),
    // Times are shown to the minute in the person's time zone. Unchanged times keep their seconds.
    ...(isDue && due !== localInstant(todo.due_date) && { due_date: new Date(due).toISOString() }),
    ...(text('priority') !== todo.priority && { priority: text('priority') }),
    ...(tags.join() !== todo.tags.join() && { tags }),
    ...(removed.length > 0 && { clear: removed }),
  };
}
