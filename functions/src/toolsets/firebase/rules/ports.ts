/** Ports of subscriptions, implemented by their store. */

import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { DatabaseAccesses } from './databaseAccess.ts';
import type { StoredSubscription, SubscriptionChanges } from './subscription.ts';
import type { State, Transition } from './transition.ts';

/** Lease for watching on behalf of a log, held by the watching instance. */
export interface Lease {
  /** The watch that holds the lease. */
  readonly holder: string;
  /** Whether the instance has readers: without requests its process may be suspended. */
  readonly reading: boolean;
  readonly renewed: Date;
}

/** Every list is bounded and ordered. */
export interface SubscriptionQueries {
  find(id: string): Promise<Versioned<StoredSubscription> | undefined>;
  /** Number of a principal's subscriptions, including expired ones that are not yet deleted. */
  count(uid: string): Promise<number>;
  /** Subscriptions that expired by `now`, oldest first. */
  expired(now: Date, limit: number): Promise<readonly Versioned<StoredSubscription>[]>;
}

export interface WatcherLeases {
  /** Takes or renews the lease if `may` allows it; returns whether. It ends when the instance loses the database. */
  take(log: string, lease: Lease, may: (current: Lease | undefined) => boolean): Promise<boolean>;
  /** Releases the lease if the holder has it. */
  release(log: string, holder: string): Promise<void>;
  /** Reports the lease now and after each change. Returns a function that ends this. */
  observe(log: string, changed: (lease: Lease | undefined) => void): () => void;
}

export interface EventLog {
  /** Writes the first checkpoint, unless the log exists. */
  create(log: string, state: State): Promise<void>;
  /** Returns whether the log was created and not removed since. */
  exists(log: string): Promise<boolean>;
  /** Deletes the whole log. */
  remove(log: string): Promise<void>;
  /** Returns the latest checkpoint and the entries after it; undefined if the log was removed. */
  load(log: string): Promise<LoadedLog | undefined>;
  /** Appends an entry. Returns false if another watch's entry has that number. */
  append(log: string, entry: Entry): Promise<boolean>;
  /** Replaces all earlier checkpoints. */
  checkpoint(log: string, checkpoint: Checkpoint): Promise<void>;
  /** Deletes entries that a checkpoint includes. */
  drop(log: string, sequences: readonly number[]): Promise<void>;
  /** Returns at most `most` entries, in order. */
  read(log: string, from: number, most: number): Promise<readonly Entry[]>;
  /** Returns the number of the last entry, even if it was dropped; 0 for a new log. */
  end(log: string): Promise<number>;
  /** Reports each existing and new entry from a number on, in order. Returns a function that ends this. */
  follow(log: string, from: number, appended: (entry: Entry) => void, failed: (error: unknown) => void): () => void;
}

export interface Entry {
  readonly sequence: number;
  /** The watch that wrote the entry. */
  readonly writer: string;
  readonly transitions: readonly Transition[];
  /** Whether earlier changes may be missing from the log. */
  readonly isAfterLoss?: boolean;
}

/** An entry's size, for retention. */
export interface EntrySize {
  readonly sequence: number;
  readonly transitions: number;
  /** Number of transitions that are events for the subscriber. */
  readonly events: number;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Stored state of a log, so that loading does not require all entries. */
export interface Checkpoint {
  /** Last entry included in the state; 0 for the initial state. */
  readonly sequence: number;
  readonly state: State;
  /** Retained entries, oldest first. */
  readonly kept: readonly EntrySize[];
}

export interface LoadedLog {
  readonly checkpoint: Checkpoint;
  /** All entries after the checkpoint. */
  readonly entries: readonly Entry[];
}

/** Dependencies of data access and subscriptions. */
export interface FirebasePorts extends AccessPorts {
  readonly store: Store<DataChange>;
  readonly databases: DatabaseAccesses;
  readonly subscriptions: SubscriptionQueries;
  readonly events: EventLog;
  readonly leases: WatcherLeases;
}

export type DataChange = ChangeOf<SubscriptionChanges> | AccessChange;
