/** Composes what all features stand on. */

import type { Firestore } from '@google-cloud/firestore';
import { firestore } from '../kernel/firestore/client.ts';
import { DocumentReading } from '../kernel/firestore/reading.ts';
import { FirestoreRecordedAnswers, FirestoreStore } from '../kernel/firestore/store.ts';
import { cloudLog, systemHashing, systemRandomness } from '../kernel/platform.ts';
import type { Clock } from '../kernel/ports.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
import { DatabaseUnreadable } from '../kernel/realtime/unreadable.ts';
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
    recordedAnswers: new FirestoreRecordedAnswers(database, documents),
    clock,
    randomness: systemRandomness,
    hashing: systemHashing,
    log: cloudLog,
  };
}

/** The ports of the kernel, and what the other ports are made of. */
export type Foundation = ReturnType<typeof composeFoundation>;
