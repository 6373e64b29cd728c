/** Tasks in a table, with state, holder and lease. */
import { presenceNode, type Task } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { presenceOf } from '../../live/queries.ts';
import { node } from '../../live/sources.ts';
import { ScrollArea } from '../../parts/ScrollArea.tsx';
import { Ago, Lease, Status } from '../../parts/Status.tsx';
import { stateOf } from '../../parts/taskState.ts';
import { UserText } from '../../parts/UserText.tsx';
import { Gap, useWindow } from '../../parts/VirtualList.tsx';
import { addressOf } from '../../router.ts';

const ROW_HEIGHT = 52;
const COLUMNS = 5;

interface TaskTableProps {
  readonly tasks: readonly Task[];
  readonly chosen: ReadonlySet<string>;
  choose(ids: ReadonlySet<string>): void;
}

export function TaskTable({ tasks, chosen, choose }: TaskTableProps) {
  const { box, from, to, above, below } = useWindow(tasks.length, ROW_HEIGHT);
  return (
    <ScrollArea class="scrolled" box={box} label="Tasks" onKeyDown={byKeys}>
      <table class="tasks" aria-rowcount={tasks.length + 1}>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            <th scope="col">Held by</th>
            <th scope="col">Priority</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          <Gap height={above} columns={COLUMNS} />
          {tasks.slice(from, to).map((task, index) => (
            <TaskRow
              key={task.id}
              task={task}
              row={from + index + 2}
              isChosen={chosen.has(task.id)}
              toggle={() => choose(toggled(chosen, task.id))}
            />
          ))}
          <Gap height={below} columns={COLUMNS} />
        </tbody>
      </table>
    </ScrollArea>
  );
}

function toggled(chosen: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set(chosen.has(id) ? [...chosen].filter((one) => one !== id) : [...chosen, id]);
}

interface TaskRowProps {
  readonly task: Task;
  readonly row: number;
  readonly isChosen: boolean;
  toggle(): void;
}

function TaskRow({ task, row, isChosen, toggle }: TaskRowProps) {
  return (
    <tr aria-rowindex={row}>
      <th scope="row">
        <input type="checkbox" aria-label={`Choose ${task.id}`} checked={isChosen} onChange={toggle} />{' '}
        <a href={addressOf(['t', task.id])}>
          <UserText text={task.description.split('\n', 1)[0] ?? ''} limit={160} />
        </a>
        {task.coding !== null && <span class="tag">coding</span>}
      </th>
      <td>
        <Status of={stateOf(task)} />
        <Because task={task} />
      </td>
      <td>
        {task.claimed_by === null ? <span class="soft">unclaimed</span> : <Holder task={task} id={task.claimed_by} />}
      </td>
      <td>{task.priority}</td>
      <td>
        <Ago at={task.created_at} />
      </td>
    </tr>
  );
}

/** Shows why the task does not continue. */
export function Because({ task }: { readonly task: Task }) {
  const state = stateOf(task);
  if (state === 'never') {
    const cause = task.stuck_by ?? task.failed_dependencies[0];
    return cause === undefined ? null : (
      <span class="soft">
        {' '}
        since <a href={addressOf(['t', cause])}>its dependency</a> failed
      </span>
    );
  }
  if (task.waiting_for !== null) {
    return (
      <span class="soft">
        {' '}
        for <UserText text={task.waiting_for.who} />
      </span>
    );
  }
  if (task.retry_at !== null) {
    return (
      <span class="soft">
        {' '}
        retries <Ago at={task.retry_at} />
      </span>
    );
  }
  return state === 'blocked' ? <span class="soft">{` by ${task.blockers}`}</span> : null;
}

export function Holder({ task, id }: { readonly task: Task; readonly id: string }) {
  const isOpen = ['claimed', 'in_progress', 'waiting'].includes(task.status);
  const presence = useLive(isOpen ? node(presenceOf(id), presenceNode) : undefined);
  const lastSeen = 'value' in presence ? presence.value?.last_seen : undefined;
  return (
    <>
      <a href={addressOf(['a', id])}>
        <UserText text={id} />
      </a>{' '}
      {isOpen && <Lease task={task} lastSeen={lastSeen} />}
    </>
  );
}

/** j and k go to the next and the previous link; x selects the row. */
function byKeys(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'x' && event.target instanceof HTMLAnchorElement)
    event.target.closest('tr')?.querySelector('input')?.click();
  const step = { j: 1, k: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>('th[scope="row"] > a')];
  const { activeElement } = document;
  const at = activeElement instanceof HTMLAnchorElement ? links.indexOf(activeElement) : -1;
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
}
