/** A new to-do: what, until when, how urgent. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { Trouble } from '../../parts/Act.tsx';

export function AddTodo() {
  const trouble = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);

  async function add(form: HTMLFormElement) {
    const data = new FormData(form);
    const due = String(data.get('due') ?? '');
    isBusy.value = true;
    trouble.value = undefined;
    try {
      const args = {
        title: String(data.get('title') ?? '').trim(),
        priority: String(data.get('priority') ?? 'MEDIUM'),
        // As the person's clock has it, which the input does not say.
        ...(due !== '' && { due_date: new Date(due).toISOString() }),
      };
      await act('todo.add_task', args, z.object({}));
      form.reset();
    } catch (error) {
      trouble.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <form
      class="add"
      onSubmit={(event) => {
        event.preventDefault();
        void add(event.currentTarget);
      }}
    >
      <label>
        What is to do
        <input name="title" required maxLength={500} autocomplete="off" />
      </label>
      <label>
        Due
        <input name="due" type="datetime-local" />
      </label>
      <label>
        Priority
        <select name="priority">
          <option value="MEDIUM">medium</option>
          <option value="HIGH">high</option>
          <option value="LOW">low</option>
        </select>
      </label>
      <button type="submit" class="primary" disabled={isBusy.value}>
        Add
      </button>
      {trouble.value !== undefined && <Trouble of={trouble.value} />}
    </form>
  );
}
