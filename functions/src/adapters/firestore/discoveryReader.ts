import type { Firestore, Query } from '@google-cloud/firestore';
import type { Discovery } from '../../domain/coordination/discovery.ts';
import type { DiscoveryReader, Page } from '../../domain/readers.ts';
import { COLLECTIONS } from './paths.ts';
import { discoveryFromDocument } from './sessionDocument.ts';
import { paged } from './taskReader.ts';

export class FirestoreDiscoveryReader implements DiscoveryReader {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async list(
    session: string,
    tags: readonly string[] | undefined,
    page: Page,
  ): Promise<readonly Discovery[]> {
    const all: Query = this.database.collection(COLLECTIONS.discoveries).where('session', '==', session);
    const matching = tags === undefined ? all : all.where('tags', 'array-contains-any', [...tags]);
    const { docs } = await paged(matching, 'created_at', page, 'desc').get();
    return docs.map((snapshot) => discoveryFromDocument(snapshot.data()));
  }
}
