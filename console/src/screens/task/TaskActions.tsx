/** Actions on a task. The tools check permissions and report refusals. */
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import type { Task } from '../../live/documents.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { MessageForm } from '../../parts/MessageForm.tsx';

const DONE = z.object({});

export function TaskActions({ task }: { readonly task: Task }) {
  const isClosed = task.completed_at !== null || ['done', 'failed', 'cancelled'].includes(task.status);
  const call = (method: string, args: Readonly<Record<string, unknown>> = {}) =>
    act(`coordination.${method}`, { task_id: task.id, ...args }, DONE);
  const waiting = task.dependents.length;
  return (
    <div class="levers">
      <p class="acts">
        {!isClosed && (
          <>
            <ActionButton
              label="Cancel this task"
              kind="danger"
              consequence={`It is cancelled${task.claimed_by === null ? '' : `, and ${task.claimed_by} stops working on it`}.${
                waiting > 0
                  ? ` ${waiting} other ${waiting === 1 ? 'task waits' : 'tasks wait'} for it and could never start.`
                  : ''
              } You can retry it later.`}
              act={() => call('cancel_task')}
            />
            {task.claimed_by !== null && (
              <ActionButton
                label="Take it from its holder"
                consequence={`${task.claimed_by} loses the task, and others can claim it at once.`}
                act={() => call('release_task')}
              />
            )}
            <ActionButton
              label="More urgent"
              disabled={task.priority <= 1}
              act={() => call('update_task', { priority: task.priority - 1 })}
            />
            <ActionButton
              label="Less urgent"
              disabled={task.priority >= 10}
              act={() => call('update_task', { priority: task.priority + 1 })}
            />
          </>
        )}
        {['failed', 'cancelled'].includes(task.status) && (
          <>
            <ActionButton label="Try it again" kind="primary" act={() => call('retry_task')} />
            {waiting > 0 && (
              <ActionButton
                label="Retry with failed dependents"
                act={() => call('retry_task', { with_dependents: true })}
              />
            )}
          </>
        )}
      </p>
      {!isClosed && task.claimed_by !== null && <MessageForm agentId={task.claimed_by} taskId={task.id} />}
    </div>
  );
}
