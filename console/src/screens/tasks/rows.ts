/** Rows of the table of tasks: groups by state, or sorted by a column. */
import type { Task } from '../../live/documents.ts';
import { stateOf, workerOf } from '../../parts/taskState.ts';

export const COLUMN_NAMES = ['status', 'assignee', 'lease', 'priority', 'created', 'deadline', 'cost'] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

/** Columns that are shown unless the person chooses others. */
export const DEFAULT_COLUMNS: readonly ColumnName[] = ['status', 'assignee', 'lease', 'priority', 'created'];

export interface Sorting {
  readonly by: ColumnName;
  readonly isDown: boolean;
}

export type Row =
  | { readonly kind: 'group'; readonly state: string; readonly count: number }
  | { readonly kind: 'task'; readonly task: Task };

/** Order of the groups. */
const STATES = [
  ...['waiting', 'verifying', 'in_progress', 'claimed', 'available', 'blocked', 'never'],
  ...['done', 'failed', 'cancelled'],
];

export function withGroups(tasks: readonly Task[], sorting: Sorting | undefined): readonly Row[] {
  if (sorting !== undefined) return sorted(tasks, sorting).map((task) => ({ kind: 'task', task }));
  const groups = new Map<string, Task[]>();
  for (const task of tasks) {
    const state = stateOf(task);
    const group = groups.get(state);
    if (group === undefined) groups.set(state, [task]);
    else group.push(task);
  }
  const place = (state: string) => (STATES.includes(state) ? STATES.indexOf(state) : STATES.length);
  return [...groups]
    .sort(([one], [other]) => place(one) - place(other))
    .flatMap(([state, members]): readonly Row[] => [
      { kind: 'group', state, count: members.length },
      ...members.map((task) => ({ kind: 'task' as const, task })),
    ]);
}

type Value = number | string | undefined;

/** Values by which columns are sorted. Tasks without a value come last. */
const VALUES: Readonly<Partial<Record<ColumnName, (task: Task) => Value>>> = {
  status: (task) => STATES.indexOf(stateOf(task)),
  assignee: (task) => workerOf(task) ?? undefined,
  lease: ({ lease_expires_at: end }) => end?.getTime(),
  priority: ({ priority }) => priority,
  created: ({ created_at: at }) => at.getTime(),
  deadline: ({ deadline }) => deadline?.getTime(),
  cost: ({ spent }) => spent?.cost_usd,
};

export const SORTABLE: readonly ColumnName[] = COLUMN_NAMES.filter((name) => VALUES[name] !== undefined);

function sorted(tasks: readonly Task[], { by, isDown }: Sorting): readonly Task[] {
  const valueIn = VALUES[by] ?? (() => undefined);
  return [...tasks].sort((one, other) => {
    const [a, b] = [valueIn(one), valueIn(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    const order = typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b);
    return isDown ? -order : order;
  });
}

/** Parses `priority` and `-created`. */
export function sortingIn(parameter: string | undefined): Sorting | undefined {
  const isDown = parameter?.startsWith('-') === true;
  const by = SORTABLE.find((name) => name === parameter?.replace(/^-/, ''));
  return by && { by, isDown };
}

/** Returns the sorting after a click on a column: up, then down, then by state again. */
export function nextSorting(before: Sorting | undefined, by: ColumnName): string | undefined {
  if (before?.by !== by) return by;
  return before.isDown ? undefined : `-${by}`;
}
