import type { Firestore } from '@google-cloud/firestore';
import type { ArchivedSession, ArchiveReader } from '../../domain/readers.ts';
import { ARCHIVE } from './paths.ts';

export class FirestoreArchiveReader implements ArchiveReader {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async uncleared(limit: number): Promise<readonly ArchivedSession[]> {
    const uncleared = this.database.collectionGroup(ARCHIVE).where('cleared', '==', false);
    const { docs } = await uncleared.limit(limit).get();
    return docs.map(({ id, ref }) => ({ id, workspace: ref.parent.parent?.id ?? '' }));
  }
}
