/** What a person can do about several tasks at once. Each is a call of its own: what one is refused, others are not. */
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import type { Task } from '../../live/documents.ts';
import { Act } from '../../parts/Act.tsx';

interface ChosenProps {
  readonly tasks: readonly Task[];
  /** Called with those that are left to be chosen. */
  choose(ids: ReadonlySet<string>): void;
}

export function Chosen({ tasks, choose }: ChosenProps) {
  if (tasks.length === 0) return null;
  const open = tasks.filter(({ status }) => !['done', 'failed', 'cancelled'].includes(status));
  const held = open.filter((task) => task.claimed_by !== null);
  const ended = tasks.filter(({ status }) => ['failed', 'cancelled'].includes(status));

  async function all(about: readonly Task[], call: (task: Task) => readonly [string, object]): Promise<void> {
    const refused: { readonly id: string; readonly why: string }[] = [];
    for (const task of about) {
      const [method, args] = call(task);
      try {
        await act(`coordination.${method}`, { task_id: task.id, ...args }, z.object({}));
      } catch (error) {
        refused.push({ id: task.id, why: error instanceof Error ? error.message : String(error) });
      }
    }
    choose(new Set(refused.map(({ id }) => id)));
    const [first] = refused;
    if (first !== undefined)
      throw new Error(`${refused.length} of ${about.length} were refused. ${first.id}: ${first.why}`);
  }

  return (
    <section class="acts" aria-label="The chosen tasks">
      <span role="status">{`${tasks.length} chosen`}</span>
      {open.length > 0 && (
        <Act
          label={`Cancel ${open.length}`}
          kind="danger"
          consequence={`${counted(open.length)} cancelled, and who holds one is told to stop. What waits for them could never start. Trying them again takes that back.`}
          act={() => all(open, () => ['cancel_task', {}])}
        />
      )}
      {held.length > 0 && (
        <Act
          label={`Take ${held.length} from their holders`}
          consequence="Others can claim them at once."
          act={() => all(held, () => ['release_task', {}])}
        />
      )}
      {open.length > 0 && (
        <Act
          label="More urgent"
          act={() =>
            all(
              open.filter(({ priority }) => priority > 1),
              ({ priority }) => ['update_task', { priority: priority - 1 }],
            )
          }
        />
      )}
      {ended.length > 0 && (
        <Act
          label={`Try ${ended.length} again`}
          kind="primary"
          act={() => all(ended, () => ['retry_task', {}])}
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
