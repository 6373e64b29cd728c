/** Form for a new to-do: title, due date and priority. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { ErrorNotice } from '../../parts/ActionButton.tsx';
import { clearSent } from '../../parts/formState.ts';
import { describeWords, understand, useWords } from './words.ts';

const DEFAULT_PRIORITY = 'MEDIUM';

export function AddTodo() {
  const trouble = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const typed = useSignal('');
  const due = useSignal('');
  const priority = useSignal(DEFAULT_PRIORITY);
  /** Title whose detected date the person has removed. */
  const plain = useSignal<string | undefined>(undefined);
  const { found, isMisunderstood } = useWords(typed.value === plain.value ? '' : typed.value);

  async function add() {
    const sent = { typed: typed.value, due: due.value, priority: priority.value };
    const isPlain = sent.due !== '' || sent.typed === plain.value;
    isBusy.value = true;
    trouble.value = undefined;
    try {
      const words = isPlain ? undefined : await understand(sent.typed);
      const args = {
        title: words?.title ?? sent.typed.trim(),
        priority: sent.priority,
        // The input has no time zone, so the time zone of the person is used.
        ...(sent.due !== '' && { due_date: new Date(sent.due).toISOString() }),
        ...(words !== undefined && { when: words.words, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
      };
      await act('todo.add_task', args, z.object({}));
      clearSent(sent.typed, typed, '');
      clearSent(sent.due, due, '');
      clearSent(sent.priority, priority, DEFAULT_PRIORITY);
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
        void add();
      }}
    >
      <label>
        What is to do
        <input
          required
          pattern=".{0,500}"
          title="At most 500 characters"
          autocomplete="off"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
      </label>
      <label>
        Due
        <input type="datetime-local" value={due.value} onInput={(event) => (due.value = event.currentTarget.value)} />
      </label>
      <label>
        Priority
        <select value={priority.value} onChange={(event) => (priority.value = event.currentTarget.value)}>
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
          {`${describeWords(found.meaning)}, as “${found.words}” says. `}
          <button type="button" class="plain" onClick={() => (plain.value = typed.value)}>
            Remove date
          </button>
        </p>
      )}
      {isMisunderstood && (
        <p class="found" role="status">
          The repetition is not understood, so this comes once. Write it as in “every second Monday 9:00”.
        </p>
      )}
      {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
    </form>
  );
}
