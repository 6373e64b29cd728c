/** Reminder of a to-do: view, set and snooze. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { todos as text } from '../../../text/todos.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { act, callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import type { Todo } from '../../live/documents.ts';
import { now } from '../../live/time.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { Section, Shown } from '../../parts/Notice.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { Ago } from '../../parts/Time.tsx';
import { moved, tomorrow } from '../todos/days.ts';

const reminder = z.object({ id: z.string(), task_id: z.string(), remind_at: z.string() });
const listed = z.object({ reminders: z._default(z.array(reminder), []), next_cursor: z.exactOptional(z.string()) });
const DONE = z.object({});

export function Reminder({ todo }: { readonly todo: Todo }) {
  const { live, refetch } = useResponse(todo.id, () => reminderOf(todo.id), String(todo.due_date?.getTime()));
  const at = useSignal('');

  async function change(method: string, args: Readonly<Record<string, unknown>>): Promise<void> {
    await act(`todo.${method}`, args, DONE);
    refetch();
  }

  const own = 'value' in live ? live.value : undefined;
  const setAt = (date: Date) => change('set_reminder', { task_id: todo.id, remind_at: date.toISOString() });
  /** Moves the present reminder, or sets one. */
  const inMinutes = (minutes: number) =>
    own === undefined
      ? setAt(new Date(now.value + minutes * 60_000))
      : change('snooze_reminder', { reminder_id: own.id, minutes });
  return (
    <Section title={text.reminder}>
      <Shown live={live} what={text.reminder.toLowerCase()}>
        {(known) => (
          <p class="soft">
            {known === undefined ? (
              text.noReminder
            ) : (
              <Fill text={text.reminderAt} with={{ when: <Ago at={new Date(known.remind_at)} /> }} />
            )}
          </p>
        )}
      </Shown>
      <div class="write">
        <TextField label={text.remindAt} type="datetime-local" of={at} />
        <ActionButton
          label={text.set}
          disabled={at.value === ''}
          act={async () => {
            await setAt(new Date(at.value));
            at.value = '';
          }}
        />
      </div>
      <p class="acts">
        <ActionButton small label={text.in10} act={() => inMinutes(10)} />
        <ActionButton small label={text.in60} act={() => inMinutes(60)} />
        <ActionButton small label={text.tomorrow9} act={() => setAt(moved(null, tomorrow(new Date(now.value))))} />
        {own !== undefined && (
          <ActionButton
            small
            kind="quiet"
            label={text.removeReminder}
            act={() => change('delete_reminder', { reminder_id: own.id })}
          />
        )}
      </p>
    </Section>
  );
}

/** Returns the to-do's reminder. The tool lists the reminders of all to-dos, earliest first. */
async function reminderOf(todoId: string): Promise<z.output<typeof reminder> | undefined> {
  let cursor: string | undefined;
  do {
    const asked = { upcoming: true, limit: 100, ...(cursor !== undefined && { cursor }) };
    const page = await callTool('todo.list_reminders', asked, listed);
    const own = page.reminders.find((one) => one.task_id === todoId);
    if (own !== undefined) return own;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return undefined;
}
