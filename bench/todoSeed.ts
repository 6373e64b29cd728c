/** To-dos of the person who owns the benchmarks' agents. */
import { todoPath } from '../functions/src/kernel/firestore/paths.ts';
import { PRIORITIES, type Todo } from '../functions/src/toolsets/todo/rules/todo.ts';
import { todoToDocument } from '../functions/src/toolsets/todo/store/todoDocument.ts';
import { OWNER, type Project, writeAll } from './seed.ts';

const HOUR = 3_600_000;

/** Word in every to-do's title. */
export const COMMON_WORD = 'meeting';

/** Returns the `number`th to-do; every fourth is done. */
export function todoNumber(number: number): Todo {
  const createdAt = new Date(Date.now() - number * HOUR);
  const isDone = number % 4 === 3;
  return {
    id: `todo-${number}`,
    owner_uid: OWNER,
    title: `Prepare the ${COMMON_WORD} number ${number}`,
    description: 'Ask for the budget of the quarter, and who takes part',
    due_date: new Date(Date.now() + (number + 1) * HOUR),
    priority: PRIORITIES[number % PRIORITIES.length] ?? 'LOW',
    tags: ['work', number % 2 === 0 ? 'even' : 'odd'],
    completed: isDone,
    ...(isDone && { completed_at: createdAt }),
    created_at: createdAt,
  };
}

/** Returns a to-do with few words, of which a million fit into the emulator's memory. */
export function shortTodo(number: number): Todo {
  const { description: _, ...todo } = todoNumber(number);
  return { ...todo, title: `${COMMON_WORD} ${number}`, tags: [] };
}

export function addTodos({ firestore }: Project, count: number, todoOf = todoNumber): Promise<void> {
  return writeAll(firestore, count, (number) => {
    const todo = todoOf(number);
    return [todoPath(todo.id), todoToDocument(todo)];
  });
}
