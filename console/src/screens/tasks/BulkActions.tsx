/** Actions on several tasks. Each action is a separate call, so a refused call does not stop the others. */
import type { Task } from '../../live/documents.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import type { BulkAction } from '../../parts/useBulkAction.tsx';

interface BulkActionsProps {
  readonly tasks: readonly Task[];
  readonly many: BulkAction;
  /** Called with the tasks that stay selected. */
  choose(ids: ReadonlySet<string>): void;
}

export function BulkActions({ tasks, many, choose }: BulkActionsProps) {
  if (tasks.length === 0) return null;
  const open = tasks.filter(({ status }) => !['done', 'failed', 'cancelled'].includes(status));
  const held = open.filter((task) => task.claimed_by !== null);
  const ended = tasks.filter(({ status }) => ['failed', 'cancelled'].includes(status));
  const isRunning = many.state.kind === 'running';

  async function all(about: readonly Task[], method: string, argsOf = (_task: Task): object => ({})) {
    const calls = about.map((task) => {
      return { id: task.id, method: `coordination.${method}`, args: { task_id: task.id, ...argsOf(task) } };
    });
    choose(new Set(await many.run(calls)));
  }

  return (
    <section class="acts" aria-label="The chosen tasks">
      <span role="status">{`${tasks.length} chosen`}</span>
      {open.length > 0 && (
        <ActionButton
          label={`Cancel ${open.length}`}
          kind="danger"
          disabled={isRunning}
          consequence={`${counted(open.length)} cancelled, and their holders stop. Tasks that wait for them cannot start. You can retry them later.`}
          act={() => all(open, 'cancel_task')}
        />
      )}
      {held.length > 0 && (
        <ActionButton
          label={`Take ${held.length} from their holders`}
          disabled={isRunning}
          consequence="Others can claim them at once."
          act={() => all(held, 'release_task')}
        />
      )}
      {open.length > 0 && (
        <ActionButton
          label="More urgent"
          disabled={isRunning}
          act={() =>
            all(
              open.filter(({ priority }) => priority > 1),
              'update_task',
              ({ priority }) => ({ priority: priority - 1 }),
            )
          }
        />
      )}
      {ended.length > 0 && (
        <ActionButton
          label={`Try ${ended.length} again`}
          kind="primary"
          disabled={isRunning}
          act={() => all(ended, 'retry_task')}
        />
      )}
      <button type="button" class="plain" onClick={() => choose(new Set())}>
        Choose none
      </button>
    </section>
  );
}

function counted(number: number): string {
  return number === 1 ? 'One task is' : `${number} tasks are`;
}
