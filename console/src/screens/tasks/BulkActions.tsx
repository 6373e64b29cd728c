/** Actions on several tasks. Each action is a separate call, so a refused call does not stop the others. */

import { tasks as text } from '../../../text/tasks.ts';
import { fill, plural } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import type { Task } from '../../live/documents.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { isClosed, titleOf } from '../../parts/taskState.ts';
import type { BulkAction } from '../../parts/useBulkAction.tsx';

interface BulkActionsProps {
  readonly tasks: readonly Task[];
  readonly many: BulkAction;
  /** Called with the tasks that stay selected. */
  choose(ids: ReadonlySet<string>): void;
}

export function BulkActions({ tasks, many, choose }: BulkActionsProps) {
  if (tasks.length === 0) return null;
  const open = tasks.filter((task) => !isClosed(task));
  const held = open.filter(({ claimed_by }) => claimed_by !== null);
  const ended = tasks.filter(({ status }) => ['failed', 'cancelled'].includes(status));
  const isRunning = many.state.kind === 'running';
  const needing = new Set(open.flatMap(({ dependents }) => dependents)).size;

  async function all(about: readonly Task[], method: string, argsOf = (_task: Task): object => ({})) {
    const calls = about.map((task) => ({
      id: task.id,
      title: titleOf(task),
      method: `coordination.${method}`,
      args: { task_id: task.id, ...argsOf(task) },
    }));
    choose(new Set(await many.run(calls)));
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark for a moment.
    <div class="toast float" role="region" aria-label={text.selected}>
      <b class="num nowrap" role="status">
        {plural(tasks.length, text.selectedCount)}
      </b>
      <span class="acts">
        {open.length > 0 && (
          <ActionButton
            small
            kind="quiet"
            icon="up"
            label={text.raise}
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
        {held.length > 0 && (
          <ActionButton
            small
            kind="quiet"
            icon="release"
            label={text.release}
            disabled={isRunning}
            confirm={{
              title: plural(held.length, text.releaseTitle),
              text: text.releaseHint,
              keep: text.keep,
              reason: text.reason,
            }}
            act={(reason) => all(held, 'release_task', () => (reason === '' ? {} : { reason }))}
          />
        )}
        {ended.length > 0 && (
          <ActionButton
            small
            kind="quiet"
            icon="retry"
            label={plural(ended.length, text.retryMany)}
            disabled={isRunning}
            act={() => all(ended, 'retry_task')}
          />
        )}
        {open.length > 0 && (
          <ActionButton
            small
            kind="quiet"
            icon="stop"
            label={text.cancel}
            disabled={isRunning}
            confirm={{
              title: plural(open.length, text.cancelTitle),
              text: needing === 0 ? text.cancelHint : fill(plural(needing, text.cancelHintNeeded), {}),
              keep: text.keep,
              reason: text.reason,
              isDangerous: true,
            }}
            act={(reason) => all(open, 'cancel_task', () => (reason === '' ? {} : { reason }))}
          />
        )}
        <button
          type="button"
          class="b small quiet only"
          aria-label={text.clearSelection}
          title={text.clearSelection}
          onClick={() => choose(new Set())}>
          <Icon of="cross" small />
        </button>
      </span>
    </div>
  );
}
