/** Tasks in a table, in groups by state, or sorted by a column. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { common } from '../../../text/common.ts';
import { tasks as text } from '../../../text/tasks.ts';
import { fill, money } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { Priority } from '../../../ui/Priority.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import type { Task } from '../../live/documents.ts';
import { Lease } from '../../parts/Lease.tsx';
import { At } from '../../parts/Time.tsx';
import { stateOf, titleOf, workerOf } from '../../parts/taskState.ts';
import { Gap, offsetsOf, useWindow } from '../../parts/VirtualList.tsx';
import { Who } from '../../parts/Who.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import { Because } from './Because.tsx';
import { isNarrow } from './isNarrow.ts';
import { type ColumnName, SORTABLE, type Sorting, withGroups } from './rows.ts';

/** Heights in CSS pixels, as in screens.css. */
const HEIGHTS = { wide: { task: 44, group: 34 }, narrow: { task: 68, group: 34 } } as const;

interface TaskTableProps {
  readonly tasks: readonly Task[];
  readonly columns: readonly ColumnName[];
  readonly sorting: Sorting | undefined;
  /** Text for the number of tasks in a state, of which the given number is loaded. */
  countOf(state: string, loaded: number): string;
  readonly chosen: ReadonlySet<string>;
  choose(ids: ReadonlySet<string>): void;
  sort(column: ColumnName): void;
}

export function TaskTable({ tasks, columns, sorting, countOf, chosen, choose, sort }: TaskTableProps) {
  const heights = HEIGHTS[isNarrow.value ? 'narrow' : 'wide'];
  const rows = useMemo(() => withGroups(tasks, sorting), [tasks, sorting?.by, sorting?.isDown]);
  const offsets = useMemo(() => offsetsOf(rows.map(({ kind }) => heights[kind])), [rows, heights]);
  const { box, from, to, above, below } = useWindow(offsets, 'page');
  const width = columns.length + 2;
  const isAll = tasks.length > 0 && tasks.every(({ id }) => chosen.has(id));
  return (
    <section class="edge-to-edge" ref={box} aria-label={text.title} onKeyDown={byKeys}>
      <table class="list tasks" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <td>
              <input
                type="checkbox"
                aria-label={text.selectAll}
                checked={isAll}
                onChange={() => choose(isAll ? new Set() : new Set(tasks.map(({ id }) => id)))}
              />
            </td>
            <th scope="col" class="title">
              {text.columns.task}
            </th>
            {columns.map((name) => (
              <th
                key={name}
                scope="col"
                class={name}
                aria-sort={sorting?.by === name ? (sorting.isDown ? 'descending' : 'ascending') : undefined}>
                {SORTABLE.includes(name) ? (
                  <button type="button" class="sort" onClick={() => sort(name)}>
                    {text.columns[name]}
                    {sorting?.by === name && <Icon of={sorting.isDown ? 'fall' : 'up'} small />}
                  </button>
                ) : (
                  text.columns[name]
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={above} columns={width} />
          {rows.slice(from, to).map((row, index) =>
            row.kind === 'group' ? (
              <tr key={row.state} class="group" aria-rowindex={from + index + 2}>
                <th colSpan={width} scope="rowgroup">
                  <span class="line">
                    <State of={row.state} />
                    <span class="count">{countOf(row.state, row.count)}</span>
                  </span>
                </th>
              </tr>
            ) : (
              <TaskRow
                key={row.task.id}
                task={row.task}
                columns={columns}
                row={from + index + 2}
                isChosen={chosen.has(row.task.id)}
                isGrouped={sorting === undefined}
                toggle={() => choose(toggled(chosen, row.task.id))}
              />
            ),
          )}
          <Gap height={below} columns={width} />
        </tbody>
      </table>
    </section>
  );
}

function toggled(chosen: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set(chosen.has(id) ? [...chosen].filter((one) => one !== id) : [...chosen, id]);
}

interface TaskRowProps {
  readonly task: Task;
  readonly columns: readonly ColumnName[];
  readonly row: number;
  readonly isChosen: boolean;
  /** Whether the row is in a group of its state, which then need not be repeated. */
  readonly isGrouped: boolean;
  toggle(): void;
}

function TaskRow({ task, columns, row, isChosen, isGrouped, toggle }: TaskRowProps) {
  const title = titleOf(task);
  return (
    <tr aria-rowindex={row} aria-selected={isChosen}>
      <td>
        <input
          type="checkbox"
          aria-label={fill(text.select, { title: title.slice(0, 100) })}
          checked={isChosen}
          onChange={toggle}
        />
      </td>
      <th scope="row" class="title">
        <span class="cut">
          <a href={addressOf([PAGES.task, task.id])}>
            <UserText text={title} limit={160} />
          </a>
          {task.coding !== null && (
            <span class="tag">
              <Icon of="code" small />
              {text.code}
            </span>
          )}
        </span>
      </th>
      {columns.map((name) => (
        <td key={name} class={name}>
          {CELLS[name](task, isGrouped)}
        </td>
      ))}
    </tr>
  );
}

const CELLS: Readonly<Record<ColumnName, (task: Task, isGrouped: boolean) => ComponentChildren>> = {
  status: (task, isGrouped) => (
    <span class="cut">
      {!isGrouped && <State of={stateOf(task)} />} <Because task={task} />
    </span>
  ),
  assignee: (task) => {
    const holder = workerOf(task);
    return holder === null ? <span class="faint">{common.unassigned}</span> : <Who id={holder} hasSign />;
  },
  lease: (task) => <Lease task={task} />,
  priority: ({ priority }) => <Priority of={priority} label={fill(text.priorityOf, { n: priority })} />,
  created: ({ created_at: at }) => (
    <span class="faint nowrap">
      <At at={at} />
    </span>
  ),
  deadline: ({ deadline: at }) =>
    at !== undefined && (
      <span class="nowrap">
        <At at={at} />
      </span>
    ),
  cost: ({ spent }) => spent !== null && <span class="num">{money(spent.cost_usd)}</span>,
};

/** j and k go to the next and the previous title; x selects the row. */
function byKeys(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'x' && event.target instanceof HTMLAnchorElement) {
    event.target.closest('tr')?.querySelector('input')?.click();
  }
  const step = { j: 1, k: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>('th[scope="row"] a')];
  const { activeElement } = document;
  const at = activeElement instanceof HTMLAnchorElement ? links.indexOf(activeElement) : -1;
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
}
