/** Actions on several tasks. Each action is a separate call, so a refused call does not stop the others. */
import { tasks as text } from '../../../text/tasks.ts';
import { plural } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import type { IconName } from '../../../ui/icons.ts';
import type { Task } from '../../live/documents.ts';
import { type Action, ActionButton } from '../../parts/acting.tsx';
import { isClosed, titleOf } from '../../parts/taskState.ts';
import type { BulkAction } from '../../parts/useBulkAction.tsx';

interface BulkActionsProps {
  readonly tasks: readonly Task[];
  readonly many: BulkAction;
  /** Called with the tasks that stay selected. */
  choose(ids: ReadonlySet<string>): void;
}

interface Offer extends Omit<Action, 'act'> {
  readonly icon: IconName;
  readonly method: string;
  readonly about: readonly Task[];
  /** Arguments besides the task and the reason. */
  argsOf?(task: Task): object;
}

export function BulkActions({ tasks, many, choose }: BulkActionsProps) {
  if (tasks.length === 0) return null;

  async function all({ about, method, argsOf }: Offer, reason: string) {
    const calls = about.map((task) => ({
      id: task.id,
      title: titleOf(task),
      method: `coordination.${method}`,
      args: { task_id: task.id, ...argsOf?.(task), ...(reason !== '' && { reason }) },
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
        {offersFor(tasks)
          .filter(({ about }) => about.length > 0)
          .map((offer) => (
            <ActionButton
              key={offer.method}
              {...offer}
              small
              kind="quiet"
              disabled={many.state.kind === 'running'}
              act={(reason) => all(offer, reason)}
            />
          ))}
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

function offersFor(tasks: readonly Task[]): readonly Offer[] {
  const open = tasks.filter((task) => !isClosed(task));
  const held = open.filter(({ claimed_by }) => claimed_by !== null);
  const ended = tasks.filter(({ status }) => ['failed', 'cancelled'].includes(status));
  const needing = new Set(open.flatMap(({ dependents }) => dependents)).size;
  const { keep, reason } = text;
  return [
    {
      icon: 'up',
      label: text.raise,
      method: 'update_task',
      about: open.filter(({ priority }) => priority > 1),
      argsOf: ({ priority }) => ({ priority: priority - 1 }),
    },
    {
      icon: 'release',
      label: text.release,
      method: 'release_task',
      about: held,
      confirm: { title: plural(held.length, text.releaseTitle), text: text.releaseHint, keep, reason },
    },
    { icon: 'retry', label: plural(ended.length, text.retryMany), method: 'retry_task', about: ended },
    {
      icon: 'stop',
      label: text.cancel,
      method: 'cancel_task',
      about: open,
      confirm: {
        title: plural(open.length, text.cancelTitle),
        text: needing === 0 ? text.cancelHint : plural(needing, text.cancelHintNeeded),
        keep,
        reason,
        isDangerous: true,
      },
    },
  ];
}
