/** Quick form for a new to-do. A date or repetition in the words of the title becomes a chip, which a cross removes. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { todos as text } from '../../../text/todos.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { act } from '../../calls/tools.ts';
import { isOffline } from '../../live/sources.ts';
import { ErrorNotice } from '../../parts/acting.tsx';
import { clearSent } from '../../parts/formState.ts';
import { Select } from '../../parts/Select.tsx';
import { describeWords, understand, useWords } from './words.ts';

const DEFAULT_PRIORITY = 'MEDIUM';

export function AddTodo() {
  const trouble = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const typed = useSignal('');
  const due = useSignal('');
  const isDating = useSignal(false);
  const priority = useSignal<string>(DEFAULT_PRIORITY);
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
      isDating.value = false;
    } catch (error) {
      trouble.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <form
      class="card quick"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}>
      <label>
        <span class="away">{text.new}</span>
        <input
          class="input"
          required
          pattern=".{0,500}"
          title={text.titleLimit}
          placeholder={text.newHint}
          autocomplete="off"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
      </label>
      {found !== undefined && due.value === '' ? (
        <span class="chip" role="status">
          <Icon of={found.meaning.repetition === undefined ? 'calendar' : 'repeat'} small />
          {describeWords(found.meaning)}
          <button type="button" class="bare" aria-label={text.removeDate} onClick={() => (plain.value = typed.value)}>
            <Icon of="cross" small />
          </button>
        </span>
      ) : isDating.value ? (
        <label>
          <span class="away">{text.due}</span>
          <input
            class="input short"
            type="datetime-local"
            value={due.value}
            onInput={(event) => (due.value = event.currentTarget.value)}
          />
        </label>
      ) : (
        <button
          type="button"
          class="b quiet only"
          aria-label={text.due}
          title={text.due}
          onClick={() => (isDating.value = true)}>
          <Icon of="calendar" />
        </button>
      )}
      <Select
        aria-label={text.priority}
        value={priority.value}
        options={Object.entries(text.priorities)}
        choose={(value) => (priority.value = value)}
      />
      <button type="submit" class="b primary" disabled={isBusy.value || isOffline.value}>
        {text.add}
      </button>
      {isMisunderstood && (
        <p class="hint whole" role="status">
          {text.misunderstood}
        </p>
      )}
      {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
    </form>
  );
}
