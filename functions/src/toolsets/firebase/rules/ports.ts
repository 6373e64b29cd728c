/** What subscriptions read and write by, and what their store implements. */

import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { DatabaseAccesses } from './databaseAccess.ts';
import type { StoredSubscription, SubscriptionChanges } from './subscription.ts';
import type { State, Transition } from './transition.ts';

/** Of watching for a log. It is the instance's that watches. */
export interface Lease {
  /** The watch that has it. */
  readonly holder: string;
  /** Whether anybody reads there: an instance that serves no request may stand still. */
  readonly reading: boolean;
  readonly renewed: Date;
}

/** Every list is bounded and ordered. */
export interface SubscriptionQueries {
  find(id: string): Promise<Versioned<StoredSubscription> | undefined>;
  /** How many a principal has, the expired ones included that are still to be swept. */
  count(uid: string): Promise<number>;
  /** Those that expired by `now`, longest ago first. */
  expired(now: Date, limit: number): Promise<readonly Versioned<StoredSubscription>[]>;
}

export interface WatcherLeases {
  /** Takes or renews the lease where `may` allows it, and tells whether. It goes when the instance loses the database. */
  take(log: string, lease: Lease, may: (current: Lease | undefined) => boolean): Promise<boolean>;
  /** Gives the lease back, if it is the holder's. */
  release(log: string, holder: string): Promise<void>;
  /** Tells of the lease as it is, and of each change. Returns what ends it. */
  observe(log: string, changed: (lease: Lease | undefined) => void): () => void;
}

export interface EventLog {
  /** Writes the first checkpoint, unless the log is there already. */
  create(log: string, state: State): Promise<void>;
  /** Whether it was created, and not removed since. */
  exists(log: string): Promise<boolean>;
  /** Removes everything. */
  remove(log: string): Promise<void>;
  /** The latest checkpoint and what follows it; undefined where the log was removed. */
  load(log: string): Promise<LoadedLog | undefined>;
  /** Whether it was appended; not where another watch's entry has that number. */
  append(log: string, entry: Entry): Promise<boolean>;
  /** Replaces all earlier checkpoints. */
  checkpoint(log: string, checkpoint: Checkpoint): Promise<void>;
  /** Removes entries that a checkpoint takes in. */
  drop(log: string, sequences: readonly number[]): Promise<void>;
  /** The entries from a number on, in order, at most so many. */
  read(log: string, from: number, most: number): Promise<readonly Entry[]>;
  /** The number of the last entry, also where it was dropped; 0 where there never was one. */
  end(log: string): Promise<number>;
  /** Tells of each entry from a number on, in order, also of those to come. Returns what ends it. */
  follow(
    log: string,
    from: number,
    appended: (entry: Entry) => void,
    failed: (error: unknown) => void,
  ): () => void;
}

export interface Entry {
  readonly sequence: number;
  /** The instance's watch that wrote it. */
  readonly writer: string;
  readonly transitions: readonly Transition[];
  /** Whether something may have happened before it that is in no entry. */
  readonly isAfterLoss?: boolean;
}

/** What an entry is to retention. */
export interface EntrySize {
  readonly sequence: number;
  readonly transitions: number;
  /** Of the transitions, those that subscribers are told of. */
  readonly events: number;
  readonly bytes: number;
  /** Milliseconds of the epoch. */
  readonly at: number;
}

/** A state of the log that was written down, so that not all of it has to be read again. */
export interface Checkpoint {
  /** The last entry that the state takes in; 0 for how it was at the beginning. */
  readonly sequence: number;
  readonly state: State;
  /** The entries that were kept, oldest first. */
  readonly kept: readonly EntrySize[];
}

export interface LoadedLog {
  readonly checkpoint: Checkpoint;
  /** All after the checkpoint. */
  readonly entries: readonly Entry[];
}

/** How callers' own data is reached, and subscriptions to it are kept. */
export interface FirebasePorts extends AccessPorts {
  readonly store: Store<DataChange>;
  readonly databases: DatabaseAccesses;
  readonly subscriptions: SubscriptionQueries;
  readonly events: EventLog;
  readonly leases: WatcherLeases;
}

export type DataChange = ChangeOf<SubscriptionChanges> | AccessChange;
