/** Sorts to-dos under the days that they are due on. */
import type { Todo } from '../../live/documents.ts';
import { dayOf } from '../../parts/dates.ts';

export type View = 'today' | 'week' | 'all';

export interface Day {
  readonly title: string;
  readonly todos: readonly Todo[];
  /** Whether there may be more than the loaded rows. */
  readonly isCut: boolean;
}

/** Which lists are not loaded whole: of to-dos with a date the latest are missing. */
export interface Cut {
  readonly dated: boolean;
  readonly undated: boolean;
}

const UNDATED = 'Without a date';

const PRIORITIES = ['HIGH', 'MEDIUM', 'LOW'];

/** What is overdue first, then day by day; what has no date comes last, and only where all is shown. */
export function days(
  todos: readonly Todo[],
  view: View,
  now: Date,
  cut: Cut = { dated: false, undated: false },
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
  // If a later to-do is loaded than the last one shown, nothing that belongs to the view is missing.
  const lastDay = cut.dated && dated.length === all.length ? [...groups.keys()][datedGroups - 1] : undefined;
  return [...groups].map(([title, listed]) => {
    const isCut = title === UNDATED ? cut.undated : title === lastDay;
    return { title, todos: listed, isCut };
  });
}

function titleOf(due: Date, now: Date, endOfToday: Date): string {
  if (due < now) return 'Overdue';
  return due < endOfToday ? 'Today' : dayOf(due);
}

/** Midnight where the person is, so many days from now. */
function startOfDay(now: Date, ahead: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + ahead);
}

function byPriority(one: Todo, other: Todo): number {
  return PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority);
}
