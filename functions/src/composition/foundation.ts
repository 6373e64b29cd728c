/** Composes what all features stand on. */
import { realtimeDatabase } from '../adapters/admin/realtimeDatabase.ts';
import { DatabaseUnreadable } from '../adapters/database/unreadable.ts';
import { type Firestore, firestore } from '../adapters/firestore/client.ts';
import { DocumentReading } from '../adapters/firestore/reading.ts';
import { FirestoreSettledOperations } from '../adapters/firestore/settledOperations.ts';
import { FirestoreStore } from '../adapters/firestore/store.ts';
import { systemHashing, systemRandomness } from '../adapters/platform/cryptography.ts';
import type { Clock } from '../domain/ports.ts';
import { cloudLog } from '../logging.ts';
import { changeWriters } from './changeWriters.ts';

export interface FoundationBindings {
  readonly clock: Clock;
  /** Absent: the environment's. */
  readonly database?: Firestore | undefined;
}

export function composeFoundation({ clock, database = firestore() }: FoundationBindings) {
  const unreadable = new DatabaseUnreadable(realtimeDatabase, clock, cloudLog);
  const documents = new DocumentReading(unreadable);
  return {
    database,
    documents,
    unreadable,
    store: new FirestoreStore(database, clock, systemRandomness, changeWriters),
    settledOperations: new FirestoreSettledOperations(database, documents),
    clock,
    randomness: systemRandomness,
    hashing: systemHashing,
    log: cloudLog,
  };
}

/** The ports of the kernel, and what the other ports are made of. */
export type Foundation = ReturnType<typeof composeFoundation>;
