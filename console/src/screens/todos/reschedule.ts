/** Moves a to-do to another day. */
import { z } from 'zod/mini';
import { todos as text } from '../../../text/todos.ts';
import { fill } from '../../../ui/format.ts';
import { act } from '../../calls/tools.ts';
import type { Todo } from '../../live/documents.ts';
import { tell, tellError } from '../../parts/acting.tsx';
import { moved } from './days.ts';

const DONE = z.object({});

/** Moves a to-do to a day, or takes its date away, and offers to undo it. */
export async function reschedule(todo: Todo, day: Date | undefined): Promise<void> {
  const set = (date: Date | null | undefined) =>
    act(
      'todo.update_task',
      { task_id: todo.id, ...(date == null ? { clear: ['due_date'] } : { due_date: date.toISOString() }) },
      DONE,
    );
  try {
    await set(day === undefined ? undefined : moved(todo.due_date, day));
    tell(fill(text.moved, { title: todo.title }), () => set(todo.due_date));
  } catch (error) {
    tellError(error);
  }
}
