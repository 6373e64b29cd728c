import { FieldValue, type Firestore, type WriteBatch } from '@google-cloud/firestore';
import type { Change } from '../../domain/store.ts';
import { taskPath } from './paths.ts';
import { taskToDocument } from './taskDocument.ts';
import { atVersion } from './timestamp.ts';

/** Adds a change of a task to the batch; another change adds nothing. */
export function addTaskChange(database: Firestore, batch: WriteBatch, change: Change): void {
  switch (change.kind) {
    case 'createTask':
      batch.create(database.doc(taskPath(change.task.id)), taskToDocument(change.task));
      break;
    case 'replaceTask':
      batch.update(
        database.doc(taskPath(change.task.id)),
        { ...taskToDocument(change.task) },
        atVersion(change.version),
      );
      break;
    case 'dependencyDone':
      batch.update(database.doc(taskPath(change.taskId)), { blockers: FieldValue.increment(-1) });
      break;
    case 'dependencyFailed':
      batch.update(database.doc(taskPath(change.taskId)), {
        failed_dependencies: FieldValue.arrayUnion(change.dependencyId),
      });
      break;
    case 'addDependents':
      batch.update(
        database.doc(taskPath(change.taskId)),
        { dependents: FieldValue.arrayUnion(...change.dependents) },
        atVersion(change.version),
      );
      break;
  }
}
