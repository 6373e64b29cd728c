/** Form to edit a to-do. Sends only changed fields. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import type { Todo } from '../../live/documents.ts';
import { ErrorNotice } from '../../parts/ActionButton.tsx';
import { localInstant } from '../../parts/dates.ts';
import { Card } from '../../parts/Notice.tsx';

const PRIORITIES = [
  ['HIGH', 'high'],
  ['MEDIUM', 'medium'],
  ['LOW', 'low'],
] as const;

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
    } catch (error) {
      trouble.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <Card title="Change it">
      <form
        class="edit"
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
        <label>
          Title
          <input
            name="title"
            required
            pattern=".{0,500}"
            title="At most 500 characters"
            defaultValue={todo.title}
            autocomplete="off"
          />
        </label>
        <label>
          Description
          <textarea name="description" rows={3} defaultValue={todo.description ?? ''} />
        </label>
        <label>
          Due
          <input name="due" type="datetime-local" defaultValue={localInstant(todo.due_date)} />
        </label>
        <label>
          Priority
          <select name="priority">
            {PRIORITIES.map(([name, words]) => (
              <option key={name} value={name} selected={name === todo.priority}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          Tags, with commas between
          <input name="tags" defaultValue={todo.tags.join(', ')} autocomplete="off" />
        </label>
        <button type="submit" disabled={isBusy.value}>
          Save
        </button>
        {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
      </form>
    </Card>
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
