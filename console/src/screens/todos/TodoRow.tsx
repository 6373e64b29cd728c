/** One to-do with its actions. */
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import type { Todo } from '../../live/documents.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { timeOfDay } from '../../parts/dates.ts';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf } from '../../router.ts';

const DONE = z.object({});

export function TodoRow({ todo, done }: { readonly todo: Todo; done(): void }) {
  const call = (method: string, args: object = {}) => act(`todo.${method}`, { task_id: todo.id, ...args }, DONE);
  return (
    <li class="todo">
      <div>
        <p>
          {todo.due_date !== null && <span class="soft">{timeOfDay(todo.due_date)} </span>}
          <a href={addressOf(['d', todo.id])}>
            <UserText text={todo.title} />
          </a>
          {todo.priority === 'HIGH' && <span class="tag">high</span>}
          {todo.priority === 'LOW' && <span class="tag">low</span>}
          {todo.recurring_task_id !== null && <span class="tag">comes again</span>}
          {[...new Set(todo.tags)].map((tag) => (
            <span key={tag} class="tag">
              <UserText text={tag} />
            </span>
          ))}
        </p>
        {todo.description !== null && (
          <p class="soft">
            <UserText text={todo.description} links limit={300} />
          </p>
        )}
        {todo.delegated_task_id !== null && (
          <p class="soft">
            Agents do it: <a href={addressOf(['t', todo.delegated_task_id])}>the task</a>
          </p>
        )}
      </div>
      <p class="acts">
        <ActionButton
          label="Done"
          act={async () => {
            await call('complete_task');
            done();
          }}
        />
        {todo.delegated_task_id === null && <ActionButton label="Have agents do it" act={() => call('delegate')} />}
        <ActionButton
          label="Delete"
          kind="danger"
          consequence={`“${todo.title}” is deleted. You can undo this in the audit log.`}
          act={() => call('delete_task')}
        />
      </p>
    </li>
  );
}
