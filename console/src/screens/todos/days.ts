/** Groups to-dos by due date. */
import { todos as text } from '../../../text/todos.ts';
import { longDayOf } from '../../../ui/format.ts';
import type { Todo } from '../../live/documents.ts';

export type View = 'today' | 'week' | 'all';

export interface Day {
  readonly title: string;
  /** Start of the day; undefined for to-dos without a date. */
  readonly date: Date | undefined;
  readonly isDated: boolean;
  readonly isLate: boolean;
  readonly todos: readonly Todo[];
  readonly isTruncated: boolean;
}

/** States which lists are not loaded completely. A partly loaded list with dates lacks its latest to-dos. */
export interface Truncation {
  readonly dated: boolean;
  readonly undated: boolean;
}

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
  if (view === 'all' && undated.length > 0) groups.set(text.noDateGroup, undated);
  // If a to-do after the last shown one is loaded, the view is complete.
  const lastDay = cut.dated && dated.length === all.length ? [...groups.keys()][datedGroups - 1] : undefined;
  return [...groups].map(([title, listed]) => {
    const isTruncated = title === text.noDateGroup ? cut.undated : title === lastDay;
    const isDated = title !== text.noDateGroup;
    const isLate = title === text.overdue;
    const [first] = listed;
    const date = isDated && !isLate && first?.due_date ? startOfDay(first.due_date) : undefined;
    return { title, date, isDated, isLate, todos: listed, isTruncated };
  });
}

function titleOf(due: Date, now: Date, endOfToday: Date): string {
  if (due < now) return text.overdue;
  return due < endOfToday ? text.today : longDayOf(due);
}

/** Returns midnight in the person's time zone, the given number of days from now. */
function startOfDay(now: Date, ahead = 0): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + ahead);
}

function byPriority(one: Todo, other: Todo): number {
  return PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority);
}

/** Time of day of a to-do that had no date before. */
const MORNING = 9;

/** Returns a to-do's due date on another day, at the same time of day. */
export function moved(due: Date | null, day: Date): Date {
  const [hours, minutes] = due === null ? [MORNING, 0] : [due.getHours(), due.getMinutes()];
  return new Date(day.getFullYear(), day.getMonth(), day.getDate(), hours, minutes);
}

export const tomorrow = (now: Date): Date => startOfDay(now, 1);
