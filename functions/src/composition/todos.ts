/** Composes to-dos: what they are read by, and what repairs them. */
import type { Firestore } from '../adapters/firestore/client.ts';
import { FirestoreRecurringTaskReader } from '../adapters/firestore/recurringTaskReader.ts';
import { FirestoreTaskHistory } from '../adapters/firestore/taskHistory.ts';
import { todoFromRecord } from '../adapters/firestore/todoDocument.ts';
import { FirestoreTodoReader } from '../adapters/firestore/todoReader.ts';
import type { Log } from '../domain/ports.ts';
import { RecurringTasks } from '../domain/todos/recurring.ts';
import { TodoRepair, type TodoRepairDependencies } from '../domain/todos/repair.ts';
import { TodoService } from '../domain/todos/service.ts';

export function todoPorts(database: Firestore, log: Log) {
  return {
    todos: new FirestoreTodoReader(database, log),
    recurringTasks: new FirestoreRecurringTaskReader(database),
    taskHistory: new FirestoreTaskHistory(database),
  };
}

export function todoServices(ports: TodoRepairDependencies) {
  return { todos: new TodoService(ports), recurringTasks: new RecurringTasks(ports) };
}

/** @returns repairs a to-do; `before` is the document as it was before it was written, where it was there */
export function composeRepair(ports: TodoRepairDependencies) {
  const repair = new TodoRepair(ports);
  return (todoId: string, before: unknown): Promise<void> => repair.repair(todoId, todoFromRecord(before));
}
