/** Reminder of a to-do: view, set and snooze. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act, callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import type { Todo } from '../../live/documents.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { Card, Shown } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Status.tsx';

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

  return (
    <Card title="Reminder">
      <Shown live={live}>
        {(own) => {
          if (own === undefined) return <p class="soft">None is set.</p>;
          return (
            <>
              <p>
                You are reminded <Ago at={new Date(own.remind_at)} />.
              </p>
              <p class="acts">
                <ActionButton
                  label="In 10 minutes instead"
                  act={() => change('snooze_reminder', { reminder_id: own.id, minutes: 10 })}
                />
                <ActionButton
                  label="In an hour instead"
                  act={() => change('snooze_reminder', { reminder_id: own.id, minutes: 60 })}
                />
                <ActionButton label="Not at all" act={() => change('delete_reminder', { reminder_id: own.id })} />
              </p>
            </>
          );
        }}
      </Shown>
      <div class="write">
        <label>
          Remind me at
          <input type="datetime-local" value={at.value} onInput={(event) => (at.value = event.currentTarget.value)} />
        </label>
        <ActionButton
          label="Set the reminder"
          disabled={at.value === ''}
          act={() => change('set_reminder', { task_id: todo.id, remind_at: new Date(at.value).toISOString() })}
        />
      </div>
    </Card>
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
