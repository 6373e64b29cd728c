import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import type { AnswerCache, CachedAnswer } from '../../domain/orchestration/runs/ports.ts';
import type { Versioned } from '../../domain/store.ts';
import { answerPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';

const answerDocument = z.object({ run_id: z.string() });

export function answerFromDocument(data: unknown): CachedAnswer {
  return { runId: answerDocument.parse(data).run_id };
}

export class FirestoreAnswerCache implements AnswerCache {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(key: string): Promise<Versioned<CachedAnswer> | undefined> {
    const snapshot = await this.database.doc(answerPath(key)).get();
    return this.documents.findVersioned(snapshot, answerFromDocument);
  }
}
