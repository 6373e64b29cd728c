import { FieldValue } from '@google-cloud/firestore';
import type { TaskChanges } from '../../domain/tasks/changes.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { taskLogPath, taskPath } from './paths.ts';
import { taskToDocument } from './taskDocument.ts';

export const taskWriters: ChangeWriters<TaskChanges> = {
  createTask({ task }, writes) {
    writes.createLasting(taskPath(task.id), taskToDocument(task));
  },
  replaceTask({ task, version }, writes) {
    writes.replaceLatest(taskPath(task.id), taskToDocument(task), version);
  },
  dependencyDone({ taskId }, writes) {
    writes.update(taskPath(taskId), { blockers: FieldValue.increment(-1) });
  },
  dependencyFailed({ taskId, dependencyId }, writes) {
    writes.update(taskPath(taskId), { failed_dependencies: FieldValue.arrayUnion(dependencyId) });
  },
  addDependents({ taskId, dependents, version }, writes) {
    writes.replace(taskPath(taskId), { dependents: FieldValue.arrayUnion(...dependents) }, version);
  },
  logTask({ taskId, entry: { id, kind, at, details } }, writes) {
    writes.set(taskLogPath(taskId, id), { kind, at, ...details });
  },
};
