import { FieldValue, type Firestore, type WriteBatch } from '@google-cloud/firestore';
import type { Change } from '../../domain/store.ts';
import { taskLogChunkPath, taskPath, taskResultPath } from './paths.ts';
import type { CommitProof } from './provenCommit.ts';
import { taskToDocument } from './taskDocument.ts';
import { chunkToDocument, linesToFields } from './taskLogDocument.ts';
import { atVersion } from './timestamp.ts';

/** Adds a change of a task to the batch; another change adds nothing. */
export function addTaskChange(
  database: Firestore,
  batch: WriteBatch,
  change: Change,
  proof: CommitProof,
): void {
  switch (change.kind) {
    case 'createTask': {
      const document = database.doc(taskPath(change.task.id));
      batch.create(document, proof.lastingIn(document, taskToDocument(change.task)));
      break;
    }
    case 'replaceTask': {
      const { task, version } = change;
      const document = database.doc(taskPath(task.id));
      const data = proof.latestIn(document, { ...taskToDocument(task) }, version);
      batch.update(document, data, atVersion(version));
      break;
    }
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
    case 'appendLog': {
      const { task, write, version } = change;
      const chunk = database.doc(taskLogChunkPath(task.id, write.head.chunk));
      if (version === undefined) batch.create(chunk, proof.lastingIn(chunk, chunkToDocument(task, write)));
      else
        batch.update(chunk, proof.latestIn(chunk, linesToFields(task, write), version), atVersion(version));
      if (write.drops !== undefined) batch.delete(database.doc(taskLogChunkPath(task.id, write.drops)));
      break;
    }
    case 'storeResult':
      for (const [part, json] of change.parts.entries()) {
        batch.set(database.doc(taskResultPath(change.taskId, change.epoch, part)), { json });
      }
      break;
  }
}
