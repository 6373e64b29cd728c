import type { Firestore } from '@google-cloud/firestore';
import type { WorkflowReader } from '../../domain/orchestration/runPorts.ts';
import type { SavedWorkflow } from '../../domain/orchestration/workflows/saved.ts';
import type { Slice } from '../../domain/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import { COLLECTIONS, workflowPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { workflowFromDocument } from './workflowDocument.ts';

export class FirestoreWorkflowReader implements WorkflowReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(id: string): Promise<Versioned<SavedWorkflow> | undefined> {
    const snapshot = await this.database.doc(workflowPath(id)).get();
    return this.documents.findVersioned(snapshot, workflowFromDocument);
  }

  list(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<SavedWorkflow>> {
    const owned = this.database
      .collection(COLLECTIONS.workflows)
      .where('owner_uid', '==', ownerUid)
      .orderBy('name');
    return this.documents.page(
      after === undefined ? owned : owned.startAfter(after),
      limit,
      workflowFromDocument,
    );
  }
}
