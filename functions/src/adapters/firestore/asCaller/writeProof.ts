/** That a write was carried out which its caller made as themselves, under the security rules. */
import type { DocumentReference, Firestore, Timestamp, WriteBatch } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Repetition } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import { keyReused } from '../../../domain/idempotency/errors.ts';
import { REPLAY_HOURS } from '../../../domain/idempotency/operation.ts';
import type { Clock } from '../../../domain/ports.ts';
import { writersCommitPath } from '../paths.ts';
import type { Proof } from '../provenCommit.ts';
import { timestamp } from '../timestamp.ts';

/** A lost answer is asked for within minutes; the document is deleted some time after that. */
const UNKEYED_HOURS = 1;

export const proofDocument = z.object({ arguments_hash: z.string().optional(), expires_at: timestamp });

export class WriteProof implements Proof {
  private readonly document: DocumentReference;
  private readonly clock: Clock;
  private readonly repetition: Repetition | undefined;

  constructor(client: Firestore, clock: Clock, { principal }: Caller, repetition: Repetition | undefined) {
    const id = repetition?.id ?? client.collection('any').doc().id; // 20 random characters
    this.document = client.doc(writersCommitPath(principal.uid, id));
    this.clock = clock;
    this.repetition = repetition;
  }

  addTo(batch: WriteBatch): void {
    const hours = this.repetition === undefined ? UNKEYED_HOURS : REPLAY_HOURS;
    batch.create(this.document, {
      expires_at: new Date(this.clock.now().getTime() + hours * 3_600_000),
      ...(this.repetition && { arguments_hash: this.repetition.argumentsHash }),
    });
  }

  /**
   * When the write was carried out; undefined where it was not, or so long ago that its key is free again.
   * @throws MusterError CONFLICT where another write of the same key was
   */
  async carriedOutAt(): Promise<Timestamp | undefined> {
    const snapshot = await this.document.get();
    const { createTime } = snapshot;
    if (createTime === undefined) return undefined;
    const { arguments_hash, expires_at } = proofDocument.parse(snapshot.data());
    if (expires_at <= this.clock.now()) {
      await this.document.delete();
      return undefined;
    }
    if (arguments_hash !== this.repetition?.argumentsHash) throw keyReused();
    return createTime;
  }
}
