/** A new to-do: what, until when, how urgent. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { now } from '../../live/time.ts';
import { Trouble } from '../../parts/Act.tsx';
import { dayOf, timeOfDay } from '../../parts/dates.ts';
import { dueIn } from './dueIn.ts';

export function AddTodo() {
  const trouble = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const typed = useSignal('');
  /** The title of which a person has said that its words are no date. */
  const plain = useSignal<string | undefined>(undefined);
  const found = typed.value === plain.value ? undefined : dueIn(typed.value, new Date(now.value));

  async function add(form: HTMLFormElement) {
    const data = new FormData(form);
    const due = String(data.get('due') ?? '');
    isBusy.value = true;
    trouble.value = undefined;
    try {
      const args = {
        title: due === '' && found !== undefined ? found.title : typed.value.trim(),
        priority: String(data.get('priority') ?? 'MEDIUM'),
        // As the person's clock has it, which the input does not say.
        ...(due !== '' && { due_date: new Date(due).toISOString() }),
        ...(due === '' && found !== undefined && { due_date: found.at.toISOString() }),
      };
      await act('todo.add_task', args, z.object({}));
      form.reset();
      typed.value = '';
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
        <input
          name="title"
          required
          maxLength={500}
          autocomplete="off"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
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
      {found !== undefined && (
        <p class="found" role="status">
          {`Due ${dayOf(found.at)}, ${timeOfDay(found.at)}, as “${found.words}” says. `}
          <button type="button" class="plain" onClick={() => (plain.value = typed.value)}>
            That is no date
          </button>
        </p>
      )}
      {trouble.value !== undefined && <Trouble of={trouble.value} />}
    </form>
  );
}
