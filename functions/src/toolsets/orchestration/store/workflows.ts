/** Saved workflows as Firestore keeps them. */

import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { type DocumentCodec, documentCodec } from '../../../kernel/firestore/codec.ts';
import type { ChangeWriters } from '../../../kernel/firestore/commitWrites.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { COLLECTIONS, workflowPath } from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import type { Slice } from '../../../kernel/paging.ts';
import type { SavedWorkflow, Workflow, WorkflowChanges } from '../rules/workflows/definition.ts';
import { readWorkflow } from '../rules/workflows/validation.ts';

/** A workflow as JSON: nothing queries what is in it. */
export const workflowText = z.codec(z.string(), z.custom<Workflow>(), {
  decode: (text) => readWorkflow(text, 'workflow'),
  encode: (workflow) => JSON.stringify(workflow),
});

const codec: DocumentCodec<SavedWorkflow> = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    definition: workflowText,
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
  { definition: 'workflow' },
);

export function workflowToDocument(saved: SavedWorkflow): Record<string, unknown> {
  return { ...codec.toDocument(saved), name: saved.workflow.name };
}

export const workflowFromDocument = codec.fromDocument;

export class FirestoreWorkflowReader {
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

  /** An owner's, by name. */
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

export const workflowWriters: ChangeWriters<WorkflowChanges> = {
  createWorkflow({ saved }, writes) {
    writes.create(workflowPath(saved.id), workflowToDocument(saved));
  },
  replaceWorkflow({ saved, version }, writes) {
    writes.replace(workflowPath(saved.id), workflowToDocument(saved), version);
  },
  deleteWorkflow({ id, version }, writes) {
    writes.deleteAt(workflowPath(id), version);
  },
};
