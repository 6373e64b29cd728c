/** Composes to-dos: what they are read by, and what repairs them. */
import type { Firestore } from '../adapters/firestore/client.ts';
import type { DocumentReading } from '../adapters/firestore/reading.ts';
import { FirestoreRecurringTaskReader } from '../adapters/firestore/recurringTaskReader.ts';
import { FirestoreTaskHistory } from '../adapters/firestore/taskHistory.ts';
import { todoFromRecord } from '../adapters/firestore/todoDocument.ts';
import { FirestoreTodoReader } from '../adapters/firestore/todoReader.ts';
import { RecurringTasks } from '../domain/todos/recurring.ts';
import { TodoRepair, type TodoRepairDependencies } from '../domain/todos/repair.ts';
import { TodoService } from '../domain/todos/service.ts';
import { unlessUnreadable } from '../domain/unreadable.ts';

export function todoPorts(database: Firestore, documents: DocumentReading) {
  return {
    todos: new FirestoreTodoReader(database, documents),
    recurringTasks: new FirestoreRecurringTaskReader(database, documents),
    taskHistory: new FirestoreTaskHistory(database, documents),
  };
}

export function todoServices(ports: TodoRepairDependencies) {
  return { todos: new TodoService(ports), recurringTasks: new RecurringTasks(ports) };
}

/** @returns repairs a to-do; `before` is the document as it was before it was written, where it was there */
export function composeRepair(ports: TodoRepairDependencies) {
  const repair = new TodoRepair(ports);
  // What becomes readable again is written, and so is repaired again.
  return (todoId: string, before: unknown): Promise<void> =>
    unlessUnreadable(repair.repair(todoId, todoFromRecord(before)));
}
