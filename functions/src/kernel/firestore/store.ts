/** Commits changes in one Firestore write batch: all or none, and once. */

import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import {
  type CallRecord,
  type Change,
  type ChangeKinds,
  type RecordedAnswer,
  StaleWriteError,
  type Store,
} from '../commit.ts';
import { MusterError } from '../errors.ts';
import { type LooseningOf, requireNoLoosening } from '../loosening.ts';
import { type Clock, type Randomness, Service } from '../ports.ts';
import { TOO_LARGE } from './client.ts';
import { documentCodec, jsonText, timestamp } from './codec.ts';
import { type ChangeWriters, CommitWrites, PROOF_LETTERS } from './commitWrites.ts';
import { commitPath, idempotencyPath, trailPath } from './paths.ts';
import {
  ALREADY_EXISTS,
  commitProven,
  INVALID_ARGUMENT,
  NOT_FOUND,
  STALE_CODES,
  statusCode,
} from './provenCommit.ts';
import { FirestoreReader } from './reading.ts';
import { type EffectsOf, effectsOf, entryToDocument } from './trail.ts';

export { type ChangeWriters, type CommitWrites, increments } from './commitWrites.ts';

/** A lost answer is asked for within minutes; the document is deleted some time after that. */
const PROOF_MILLISECONDS = 3_600_000;

interface StorePorts {
  readonly database: Firestore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Of all features. */
  readonly writers: ChangeWriters<ChangeKinds>;
  /** What the trail tells of changes, of all features. */
  readonly effects: EffectsOf<ChangeKinds>;
  /** How changes loosen limits, of all features. */
  readonly loosening: LooseningOf<ChangeKinds>;
  /** Is told of what was committed, before whoever has committed it goes on. */
  readonly followed?: (changes: readonly Change[]) => Promise<void>;
}

export class FirestoreStore extends Service<StorePorts> implements Store {
  private readonly counts = new Map<keyof ChangeKinds, number>();

  /** How many changes of a kind commits of this instance may have brought about. */
  committed(kind: keyof ChangeKinds): number {
    return this.counts.get(kind) ?? 0;
  }

  async commit(changes: readonly Change[], record?: CallRecord): Promise<void> {
    const { loosening } = this.ports;
    if (changes.some(({ kind }) => loosening[kind] !== null))
      requireNoLoosening(loosening, changes, record?.by);
    const recorded = record?.answer;
    if (changes.length === 0 && recorded === undefined) return;
    const { database, clock, randomness } = this.ports;
    const writesWithout = (gone: ReadonlySet<string>): CommitWrites =>
      this.writesOf(changes, record, new CommitWrites(database, randomness, clock.now(), gone));
    try {
      const { batch, proof, ifThere } = writesWithout(new Set());
      try {
        await commitProven(batch, proof);
      } catch (error) {
        const gone = statusCode(error) === NOT_FOUND ? await this.goneOf(ifThere) : new Set<string>();
        if (gone.size === 0) throw error;
        const again = writesWithout(gone);
        await commitProven(again.batch, again.proof);
      }
    } catch (error) {
      throw await this.explained(error, recorded);
    } finally {
      for (const { kind } of changes) this.counts.set(kind, this.committed(kind) + 1);
    }
    await this.ports.followed?.(changes);
  }

  private writesOf(
    changes: readonly Change[],
    record: CallRecord | undefined,
    writes: CommitWrites,
  ): CommitWrites {
    const recorded = record?.answer;
    if (recorded !== undefined)
      writes.createLasting(idempotencyPath(recorded.id), recordedAnswerToDocument(recorded));
    this.addEntry(changes, record, writes);
    for (const change of changes) this.write(change, writes);
    writes.writeAdditions();
    const { proof, now } = writes;
    if (!proof.isHeld) {
      const expires_at = new Date(now.getTime() + PROOF_MILLISECONDS);
      writes.createLasting(commitPath(proof.id), { expires_at });
    }
    return writes;
  }

  /** Those of some documents that there are not. */
  private async goneOf(paths: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { database } = this.ports;
    const documents = [...paths].map((path) => database.doc(path));
    const found = documents.length === 0 ? [] : await database.getAll(...documents, { fieldMask: [] });
    return new Set(found.filter(({ exists }) => !exists).map(({ ref }) => ref.path));
  }

  private write<Kind extends keyof ChangeKinds>(change: Change<Kind>, writes: CommitWrites): void {
    this.ports.writers[change.kind](change, writes);
  }

  /** Tells the trail of what a call changes. */
  private addEntry(changes: readonly Change[], record: CallRecord | undefined, writes: CommitWrites): void {
    const effects = record?.by ? effectsOf(this.ports.effects, changes) : [];
    if (record?.by === undefined || effects.length === 0) return;
    const { clock, randomness } = this.ports;
    const { by, undoes } = record;
    const entry = { id: randomness.letters(PROOF_LETTERS), at: clock.now(), by, effects };
    writes.createLasting(
      trailPath(entry.id),
      entryToDocument({ ...entry, ...(undoes && { undoes: undoes.id }) }),
    );
    if (undoes !== undefined) writes.replace(trailPath(undoes.id), { undone_by: entry.id }, undoes.version);
  }

  /** Translates the error of a failed commit for rules; one that they do not know goes on as it is. */
  private async explained(error: unknown, recorded: RecordedAnswer | undefined): Promise<unknown> {
    const code = statusCode(error);
    if (code === INVALID_ARGUMENT && TOO_LARGE.test(String(error))) return tooLarge(error);
    if (!STALE_CODES.includes(code)) return error;
    if (code === ALREADY_EXISTS && recorded !== undefined) await this.refuseRepetition(recorded.id);
    return new StaleWriteError({ cause: error });
  }

  /** Tells a repeated operation from a stale commit, and makes room where the record is only old. */
  private async refuseRepetition(id: string): Promise<void> {
    const document = this.ports.database.doc(idempotencyPath(id));
    const snapshot = await document.get();
    if (!snapshot.exists) return;
    if (recordedAnswerFromDocument(id, snapshot.data()).expiresAt <= this.ports.clock.now()) {
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
}

function tooLarge(cause: unknown): MusterError {
  return new MusterError('VALIDATION_ERROR', 'This is too much for one document, which holds 1 MiB.', {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Nothing was changed. Shorten the texts and lists, or put them into a file and name it.',
    cause,
  });
}

export class RecordedAnswerQueries extends FirestoreReader {
  async find(id: string): Promise<RecordedAnswer | undefined> {
    const snapshot = await this.database.doc(idempotencyPath(id)).get();
    return this.documents.find(snapshot, (data) => recordedAnswerFromDocument(id, data));
  }
}

export function recordedAnswerFromDocument(id: string, data: unknown) {
  return { id, ...codec.fromDocument(data) };
}

/** The stored answer of a call that writes: `idempotency/{id}`. The id is a digest of the caller, the tool and the key. */
const codec = documentCodec(
  z.object({ arguments_hash: z.string(), answer: jsonText, expires_at: timestamp }),
);

export const recordedAnswerToDocument = codec.toDocument;
