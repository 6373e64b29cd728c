import type { Firestore, WriteBatch } from '@google-cloud/firestore';
import type { Change } from '../../domain/store.ts';
import { recurringTaskPath, titleGuardPath, todoPath } from './paths.ts';
import { recurringTaskToDocument } from './recurringTaskDocument.ts';
import { atVersion } from './timestamp.ts';
import { todoToDocument } from './todoDocument.ts';

/** Adds a change of a to-do, its title's guard or a recurring task to the batch; another change adds nothing. */
export function addTodoChange(database: Firestore, batch: WriteBatch, change: Change): void {
  switch (change.kind) {
    case 'createTodo':
      batch.create(database.doc(todoPath(change.todo.id)), todoToDocument(change.todo));
      break;
    case 'replaceTodo':
      batch.update(
        database.doc(todoPath(change.todo.id)),
        { ...todoToDocument(change.todo) },
        atVersion(change.version),
      );
      break;
    case 'deleteTodo':
      batch.delete(database.doc(todoPath(change.id)), atVersion(change.version));
      break;
    case 'reserveTitle': {
      const document = database.doc(titleGuardPath(change.id));
      const guard = { task_id: change.taskId };
      if (change.replaces === undefined) batch.create(document, guard);
      else batch.update(document, guard, atVersion(change.replaces));
      break;
    }
    case 'releaseTitle':
      batch.delete(database.doc(titleGuardPath(change.id)));
      break;
    case 'createRecurringTask':
      batch.create(
        database.doc(recurringTaskPath(change.recurringTask.id)),
        recurringTaskToDocument(change.recurringTask),
      );
      break;
    case 'replaceRecurringTask':
      batch.update(
        database.doc(recurringTaskPath(change.recurringTask.id)),
        { ...recurringTaskToDocument(change.recurringTask) },
        atVersion(change.version),
      );
      break;
  }
}
