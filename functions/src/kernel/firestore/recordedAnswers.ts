/** The stored answers of calls that write: `idempotency/{id}`. The id is a digest of the caller, the tool and the key. */
import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import type { RecordedAnswer } from '../commit.ts';
import { documentCodec, jsonText, timestamp } from '../documentCodec.ts';
import { MusterError } from '../errors.ts';
import type { Clock, RecordedAnswerQueries } from '../ports.ts';
import { idempotencyPath } from './paths.ts';
import { FirestoreReader } from './reading.ts';

export class FirestoreRecordedAnswerQueries extends FirestoreReader implements RecordedAnswerQueries {
  async find(id: string): Promise<RecordedAnswer | undefined> {
    const snapshot = await this.database.doc(idempotencyPath(id)).get();
    return this.documents.find(snapshot, (data) => recordedAnswerFromDocument(id, data));
  }
}

export function recordedAnswerFromDocument(id: string, data: unknown): RecordedAnswer {
  return { id, ...codec.fromDocument(data) };
}

const codec = documentCodec(
  z.object({ arguments_hash: z.string(), answer: jsonText, expires_at: timestamp }),
);

export const recordedAnswerToDocument = codec.toDocument;

/**
 * Tells a repeated operation from a stale commit, and makes room if the record is only old.
 * @throws MusterError CONFLICT if another call has settled with this key
 */
export async function refuseRepetition(
  { database, clock }: { readonly database: Firestore; readonly clock: Clock },
  id: string,
): Promise<void> {
  const document = database.doc(idempotencyPath(id));
  const snapshot = await document.get();
  if (!snapshot.exists) return;
  if (recordedAnswerFromDocument(id, snapshot.data()).expiresAt <= clock.now()) {
    const asItWas = snapshot.updateTime && { lastUpdateTime: snapshot.updateTime };
    await document.delete(asItWas).catch(() => undefined); // who made room meanwhile has the record now
    return;
  }
  throw new MusterError('CONFLICT', 'This idempotency key was used at the same moment by another call.', {
    field: 'idempotency_key',
    reason: 'ALREADY_SETTLED',
    suggestion: 'Call again: the first answer is then replayed.',
  });
}
