/** What the changes of one commit write into its batch. */

import {
  type DocumentReference,
  FieldValue,
  type Firestore,
  type Precondition,
  type SetOptions,
  type WriteBatch,
} from '@google-cloud/firestore';
import type { Randomness } from '../ports.ts';
import { atVersion } from './documents.ts';
import type { CommitProof } from './provenCommit.ts';

/** How a feature's changes are written: a function for each kind, which adds to the commit's batch. */
export type ChangeWriters<Changes> = {
  readonly [Kind in keyof Changes]: (change: Changes[Kind], writes: CommitWrites) => void;
};

type Fields = Record<string, unknown>;

/** The writes of a commit. The first that can hold the proof that the commit was carried out does. */
export class CommitWrites {
  readonly batch: WriteBatch;
  readonly randomness: Randomness;
  private readonly database: Firestore;
  private readonly proof: CommitProof;

  constructor(database: Firestore, batch: WriteBatch, proof: CommitProof, randomness: Randomness) {
    this.database = database;
    this.batch = batch;
    this.proof = proof;
    this.randomness = randomness;
  }

  document(path: string): DocumentReference {
    return this.database.doc(path);
  }

  /** Stale where there is one. */
  create(path: string, data: Fields): void {
    this.batch.create(this.document(path), data);
  }

  /** The same of a document that nobody deletes. */
  createLasting(path: string, data: Fields): void {
    const document = this.document(path);
    this.batch.create(document, this.proof.lastingIn(document, data));
  }

  /** Creates it, or takes the place of the one at this version. */
  createOrReplace(path: string, data: Fields, replaces: string | undefined): void {
    if (replaces === undefined) this.create(path, data);
    else this.replace(path, data, replaces);
  }

  /** Whether there is one or not. */
  set(path: string, data: Fields, options: SetOptions = {}): void {
    this.batch.set(this.document(path), data, options);
  }

  /** Stale where there is none. */
  update(path: string, data: Fields): void {
    this.batch.update(this.document(path), data);
  }

  /** The same for the last time: nobody deletes it or changes it again. */
  updateLasting(path: string, data: Fields): void {
    const document = this.document(path);
    this.batch.update(document, this.proof.lastingIn(document, data));
  }

  /** Fields that are not named stay. Stale at another version. */
  replace(path: string, data: Fields, version: string): void {
    this.batch.update(this.document(path), data, atVersion(version));
  }

  /** The same of a document that keeps the ids of its latest commits. */
  replaceLatest(path: string, data: Fields, version: string): void {
    const document = this.document(path);
    this.batch.update(document, this.proof.latestIn(document, data, version), atVersion(version));
  }

  delete(path: string, precondition: Precondition = {}): void {
    this.batch.delete(this.document(path), precondition);
  }

  deleteAt(path: string, version: string): void {
    this.delete(path, atVersion(version));
  }
}

/** Adds to counters, whatever they are by then. */
export function increments(by: Readonly<Record<string, number>>): Record<string, FieldValue> {
  return Object.fromEntries(
    Object.entries(by).map(([counter, delta]) => [counter, FieldValue.increment(delta)]),
  );
}
