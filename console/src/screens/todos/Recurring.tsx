/** Recurring to-dos in words, with the next dates computed by the server. */
import { z } from 'zod/mini';
import { common } from '../../../text/common.ts';
import { todos as text } from '../../../text/todos.ts';
import { dayOf, fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { Menu } from '../../../ui/Menu.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { pagesOf } from '../../calls/responses.ts';
import { act, callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import type { Recurring as RecurringTodo } from '../../live/documents.ts';
import { ActionEntry } from '../../parts/acting.tsx';
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
  if (rows.length === 0) return <p class="soft">{text.noneRepeating}</p>;
  return (
    <ul class="card rows">
      {rows.map((recurring) => (
        <li key={recurring.id} class="row top-line">
          <Icon of="repeat" class="soft" />
          <div class="grow">
            <p>
              <b>
                <UserText text={recurring.title} limit={140} />
              </b>
            </p>
            <p class="soft">{recurrenceText(recurring)}</p>
            <p class="meta">
              {(dates.get(recurring.id) ?? []).map((date, index) => (
                <span key={date}>
                  {index === 0 ? fill(text.next, { day: dayOf(new Date(date)) }) : dayOf(new Date(date))}
                </span>
              ))}
            </p>
          </div>
          <Menu label={fill(common.actionsFor, { title: recurring.title.slice(0, 100) })} button="b quiet only small">
            <ActionEntry
              icon="stop"
              kind="danger"
              label={text.stopRepeating}
              confirm={{
                title: fill(text.stopTitle, { title: recurring.title.slice(0, 100) }),
                text: text.stopHint,
                keep: text.keepRepeating,
              }}
              act={() => act('todo.delete_recurring_task', { recurring_task_id: recurring.id }, z.object({}))}
            />
          </Menu>
        </li>
      ))}
    </ul>
  );
}
