/** Groups to-dos by due date. */
import type { Todo } from '../../live/documents.ts';
import { dayOf } from '../../parts/dates.ts';

export type View = 'today' | 'week' | 'all';

export interface Day {
  readonly title: string;
  readonly todos: readonly Todo[];
  readonly isTruncated: boolean;
}

/** States which lists are not loaded completely. A partly loaded list with dates lacks its latest to-dos. */
export interface Truncation {
  readonly dated: boolean;
  readonly undated: boolean;
}

const UNDATED = 'Without a date';
const PRIORITIES = ['HIGH', 'MEDIUM', 'LOW'];

/** Overdue to-dos first, then one group per date. To-dos without a date are last, and only in the view of all. */
export function days(
  todos: readonly Todo[],
  view: View,
  now: Date,
  cut: Truncation = { dated: false, undated: false },
): readonly Day[] {
  const endOfToday = startOfDay(now, 1);
  const end = view === 'today' ? endOfToday : view === 'week' ? startOfDay(now, 7) : undefined;
  const all = todos.flatMap((todo) => (todo.due_date === null ? [] : [{ todo, due: todo.due_date }]));
  const dated = all
    .filter(({ due }) => end === undefined || due < end)
    .sort((one, other) => one.due.getTime() - other.due.getTime() || byPriority(one.todo, other.todo));
  const groups = new Map<string, Todo[]>();
  for (const { todo, due } of dated) {
    const title = titleOf(due, now, endOfToday);
    groups.set(title, [...(groups.get(title) ?? []), todo]);
  }
  const datedGroups = groups.size;
  const undated = todos.filter(({ due_date: due }) => due === null).sort(byPriority);
  if (view === 'all' && undated.length > 0) groups.set(UNDATED, undated);
  // If a to-do after the last shown one is loaded, the view is complete.
  const lastDay = cut.dated && dated.length === all.length ? [...groups.keys()][datedGroups - 1] : undefined;
  return [...groups].map(([title, listed]) => {
    const isTruncated = title === UNDATED ? cut.undated : title === lastDay;
    return { title, todos: listed, isTruncated };
  });
}

function titleOf(due: Date, now: Date, endOfToday: Date): string {
  if (due < now) return 'Overdue';
  return due < endOfToday ? 'Today' : dayOf(due);
}

/** Returns midnight in the person's time zone, the given number of days from now. */
function startOfDay(now: Date, ahead: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + ahead);
}

function byPriority(one: Todo, other: Todo): number {
  return PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority);
}
