/** Ports of subscriptions. The store implements them. */

import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { DatabaseAccesses } from './databaseAccess.ts';
import type { StoredSubscription, SubscriptionChanges } from './subscription.ts';
import type { State, Transition } from './transition.ts';

/** A lease on a log. The instance that holds it watches the path and writes the log. */
export interface Lease {
  /** Id of the watch that holds the lease. */
  readonly holder: string;
  /** Whether the instance has readers. Without requests, its process may be suspended and stop watching. */
  readonly reading: boolean;
  readonly renewed: Date;
}

/** All lists are limited in length and sorted. */
export interface SubscriptionQueries {
  find(id: string): Promise<Versioned<StoredSubscription> | undefined>;
  /** Number of subscriptions of a principal, including expired ones that have not been deleted yet. */
  count(uid: string): Promise<number>;
  /** Subscriptions whose expiry is at or before `now`, oldest first. */
  expired(now: Date, limit: number): Promise<readonly Versioned<StoredSubscription>[]>;
}

export interface WatcherLeases {
  /** Takes or renews the lease if `may` allows it, and returns whether it did. A lost connection ends the lease. */
  take(log: string, lease: Lease, may: (current: Lease | undefined) => boolean): Promise<boolean>;
  /** Releases the lease if this holder has it. */
  release(log: string, holder: string): Promise<void>;
  /** Calls `changed` with the lease now and after each change. Returns a function that ends this. */
  observe(log: string, changed: (lease: Lease | undefined) => void): () => void;
}

export interface EventLog {
  /** Creates the log by writing its first checkpoint, unless the log exists. */
  create(log: string, state: State): Promise<void>;
  /** Returns whether the log was created and has not been deleted. */
  exists(log: string): Promise<boolean>;
  /** Deletes the log with all entries and checkpoints. */
  remove(log: string): Promise<void>;
  /** Returns the latest checkpoint and the entries after it; undefined if the log does not exist. */
  load(log: string): Promise<LoadedLog | undefined>;
  /** Appends an entry. Returns false if another watch has written an entry with the same number. */
  append(log: string, entry: Entry): Promise<boolean>;
  /** Stores a checkpoint and deletes the earlier ones. */
  checkpoint(log: string, checkpoint: Checkpoint): Promise<void>;
  /** Deletes entries. A checkpoint must include them. */
  drop(log: string, sequences: readonly number[]): Promise<void>;
  /** Returns up to `most` entries in order, starting with the number `from`. */
  read(log: string, from: number, most: number): Promise<readonly Entry[]>;
  /** Returns the number of the last entry, even if that entry was deleted; 0 for a new log. */
  end(log: string): Promise<number>;
  /** Calls `appended` with existing and future entries from the number `from` on. Returns a function to stop this. */
  follow(log: string, from: number, appended: (entry: Entry) => void, failed: (error: unknown) => void): () => void;
}

export interface Entry {
  readonly sequence: number;
  /** Id of the watch that wrote the entry. */
  readonly writer: string;
  readonly transitions: readonly Transition[];
  /** Whether changes before this entry may be missing in the log. */
  readonly isAfterLoss?: boolean;
}

/** Size of an entry, which decides when the entry is deleted. */
export interface EntrySize {
  readonly sequence: number;
  readonly transitions: number;
  /** Number of transitions that are events of the subscription. */
  readonly events: number;
  readonly bytes: number;
  /** Time in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The state of the path after an entry. With a checkpoint, a log can be loaded without its earlier entries. */
export interface Checkpoint {
  /** Number of the last entry that the state includes; 0 for the initial state. */
  readonly sequence: number;
  readonly state: State;
  /** Sizes of the entries that are not deleted yet, oldest first. */
  readonly kept: readonly EntrySize[];
}

export interface LoadedLog {
  readonly checkpoint: Checkpoint;
  /** All entries after the checkpoint, in order. */
  readonly entries: readonly Entry[];
}

/** Ports that data access and subscriptions need. */
export interface FirebasePorts extends AccessPorts {
  readonly store: Store<DataChange>;
  readonly databases: DatabaseAccesses;
  readonly subscriptions: SubscriptionQueries;
  readonly events: EventLog;
  readonly leases: WatcherLeases;
}

export type DataChange = ChangeOf<SubscriptionChanges> | AccessChange;
