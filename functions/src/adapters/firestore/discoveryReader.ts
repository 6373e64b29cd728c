import type { Firestore, Query } from '@google-cloud/firestore';
import type { Discovery } from '../../domain/coordination/discovery.ts';
import type { DiscoveryReader, Page, Slice } from '../../domain/readers.ts';
import { COLLECTIONS } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { discoveryFromDocument } from './sessionDocument.ts';

export class FirestoreDiscoveryReader implements DiscoveryReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async list(session: string, tags: readonly string[] | undefined, page: Page): Promise<Slice<Discovery>> {
    const all: Query = this.database.collection(COLLECTIONS.discoveries).where('session', '==', session);
    const matching = tags === undefined ? all : all.where('tags', 'array-contains-any', [...tags]);
    return this.documents.slice(matching, 'created_at', 'desc', page, discoveryFromDocument);
  }
}
