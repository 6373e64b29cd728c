import type { TodoChanges } from '../../domain/todos/changes.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { recurringTaskPath, titleGuardPath, todoPath } from './paths.ts';
import { recurringTaskToDocument } from './recurringTaskDocument.ts';
import { todoToDocument } from './todoDocument.ts';

export const todoWriters: ChangeWriters<TodoChanges> = {
  createTodo({ todo }, writes) {
    writes.create(todoPath(todo.id), todoToDocument(todo));
  },
  replaceTodo({ todo, version }, writes) {
    writes.replace(todoPath(todo.id), todoToDocument(todo), version);
  },
  deleteTodo({ id, version }, writes) {
    writes.deleteAt(todoPath(id), version);
  },
  reserveTitle({ id, taskId, replaces }, writes) {
    writes.createOrReplace(titleGuardPath(id), { task_id: taskId }, replaces);
  },
  releaseTitle({ id }, writes) {
    writes.delete(titleGuardPath(id));
  },
  createRecurringTask({ recurringTask }, writes) {
    writes.create(recurringTaskPath(recurringTask.id), recurringTaskToDocument(recurringTask));
  },
  replaceRecurringTask({ recurringTask, version }, writes) {
    writes.replace(recurringTaskPath(recurringTask.id), recurringTaskToDocument(recurringTask), version);
  },
};
