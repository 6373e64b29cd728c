/** Recurring to-dos in words, with the next dates computed by the server. */
import { z } from 'zod/mini';
import { pagesOf } from '../../calls/responses.ts';
import { act, callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import type { Recurring as RecurringTodo } from '../../live/documents.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { dayOf } from '../../parts/dates.ts';
import { UserText } from '../../parts/UserText.tsx';
import { recurrenceText } from './recurrenceText.ts';

const listed = z.object({
  recurring_tasks: z._default(
    z.array(z.object({ id: z.string(), following_occurrences: z._default(z.array(z.string()), []) })),
    [],
  ),
  next_cursor: z.exactOptional(z.string()),
});

/** Maximum number of recurring to-dos that the tool returns. */
const LIMIT = 100;

export function Recurring({ rows }: { readonly rows: readonly RecurringTodo[] }) {
  // Reloads only when rules change or an occurrence is completed.
  const version = JSON.stringify(rows);
  const ask = (cursor: string | undefined) =>
    callTool('todo.list_recurring_tasks', { limit: LIMIT, ...(cursor !== undefined && { cursor }) }, listed);
  const pages = Math.ceil(rows.length / LIMIT);
  const { live } = useResponse('', () => pagesOf(pages, ask, (page) => page.next_cursor), version);
  const dates = new Map(
    ('value' in live ? live.value : []).flatMap((page) =>
      page.recurring_tasks.map((one) => [one.id, one.following_occurrences] as const),
    ),
  );
  if (rows.length === 0) return <p class="soft">Nothing comes again.</p>;
  return (
    <ul class="plain rows">
      {rows.map((recurring) => (
        <li key={recurring.id} class="todo">
          <p>
            <UserText text={recurring.title} />{' '}
            <span class="soft">
              {recurrenceText(recurring)}
              {(dates.get(recurring.id) ?? []).map((date) => `, ${dayOf(new Date(date))}`)}
            </span>
          </p>
          <p class="acts">
            <ActionButton
              label="End it"
              kind="danger"
              consequence={`“${recurring.title}” does not come again. What is to do now stays.`}
              act={() => act('todo.delete_recurring_task', { recurring_task_id: recurring.id }, z.object({}))}
            />
          </p>
        </li>
      ))}
    </ul>
  );
}
