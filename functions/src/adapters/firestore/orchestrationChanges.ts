import type { Firestore, WriteBatch } from '@google-cloud/firestore';
import type { Randomness } from '../../domain/ports.ts';
import type { Change } from '../../domain/store.ts';
import { addMeasure } from './agentMeasures.ts';
import { workflowPath } from './paths.ts';
import { atVersion } from './timestamp.ts';
import { workflowToDocument } from './workflowDocument.ts';

/** Adds a change of a saved workflow or of an agent's measures to the batch; another change adds nothing. */
export function addOrchestrationChange(
  database: Firestore,
  batch: WriteBatch,
  change: Change,
  randomness: Randomness,
): void {
  switch (change.kind) {
    case 'createWorkflow':
      batch.create(database.doc(workflowPath(change.saved.id)), workflowToDocument(change.saved));
      break;
    case 'replaceWorkflow':
      batch.update(
        database.doc(workflowPath(change.saved.id)),
        { ...workflowToDocument(change.saved) },
        atVersion(change.version),
      );
      break;
    case 'deleteWorkflow':
      batch.delete(database.doc(workflowPath(change.id)), atVersion(change.version));
      break;
    case 'measureAgent':
      addMeasure(database, batch, change.measure, randomness);
      break;
  }
}
