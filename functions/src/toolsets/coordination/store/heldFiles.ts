/** Reserved files of the sessions, stored as `heldFiles/{session}`. */
import { FieldPath, FieldValue } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { heldFilesPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import {
  type FileChanges,
  type HeldFiles,
  type HeldFilesQueries,
  heldFilesFromDocument,
  heldFilesToDocument,
} from '../rules/files/heldFiles.ts';

export class FirestoreHeldFilesQueries extends FirestoreReader implements HeldFilesQueries {
  async find(session: string): Promise<Versioned<HeldFiles> | undefined> {
    const snapshot = await this.database.doc(heldFilesPath(session)).get();
    return this.documents.findVersioned(snapshot, heldFilesFromDocument);
  }
}

export const fileWriters: ChangeWriters<FileChanges> = {
  holdFiles({ session, workspace, entries, version }, writes) {
    const path = heldFilesPath(session);
    if (version === undefined) writes.create(path, heldFilesToDocument({ workspace, tasks: entries }));
    else {
      const held = Object.entries(entries).map(([id, one]) => [new FieldPath('tasks', id), { ...one }] as const);
      writes.replaceFields(path, held, version);
    }
  },
  freeFiles({ session, taskId }, writes) {
    writes.updateIfExists(heldFilesPath(session), [[new FieldPath('tasks', taskId), FieldValue.delete()]]);
  },
};
