/** Ports of the firebase toolset. */
import { z } from 'zod';
import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { DatabaseAccesses } from './databaseAccess.ts';
import type { Subscription, SubscriptionChanges } from './subscription.ts';
import type { State, Transition } from './transition.ts';

/** A lease on a log. The instance with the lease watches the path and writes the log. */
export const storedLease = z.object({
  holder: z.string(),
  /** Whether the instance has readers. An instance without requests may be suspended, and then it stops watching. */
  reading: z.boolean(),
  renewed: z.number().transform((time) => new Date(time)),
});
export type Lease = Readonly<z.output<typeof storedLease>>;

export interface SubscriptionQueries {
  find(id: string): Promise<Versioned<Subscription> | undefined>;
  /** Counts the subscriptions of a caller, including expired ones that have not been deleted yet. */
  count(uid: string): Promise<number>;
  /** Returns the subscriptions whose expiry is at or before `now`, oldest first. */
  expired(now: Date, limit: number): Promise<readonly Versioned<Subscription>[]>;
}

export interface WatcherLeases {
  /**
   * Takes or renews the lease if `may` allows it. Returns whether it did. A lost connection ends the lease.
   * @param isHeld whether the holder has observed its lease, which it then renews together with others
   */
  take(log: string, lease: Lease, may: (current: Lease | undefined) => boolean, isHeld?: boolean): Promise<boolean>;
  /** Releases the lease if this holder has it. */
  release(log: string, holder: string): Promise<void>;
  /** Calls `changed` with the current lease, and after each change. Returns a function that stops these calls. */
  observe(log: string, changed: (lease: Lease | undefined) => void): () => void;
}

export interface EventLog {
  /** Creates the log with its first checkpoint, unless the log exists. */
  create(log: string, state: State): Promise<void>;
  exists(log: string): Promise<boolean>;
  remove(log: string): Promise<void>;
  /** Returns the latest checkpoint and the entries after it; undefined if the log does not exist. */
  load(log: string): Promise<LoadedLog | undefined>;
  /** Appends an entry. Returns false if another watch has written an entry with the same number. */
  append(log: string, entry: Entry): Promise<boolean>;
  /** Stores a checkpoint and deletes the earlier ones. */
  checkpoint(log: string, checkpoint: Checkpoint): Promise<void>;
  /** Deletes entries, all of which a stored checkpoint must include. */
  drop(log: string, sequences: readonly number[]): Promise<void>;
  /** Returns up to `max` entries in order, starting with the number `from`. */
  read(log: string, from: number, max: number): Promise<readonly Entry[]>;
  /** Returns the number of the last entry, even if that entry was deleted; 0 for a new log. */
  end(log: string): Promise<number>;
  /** Calls `appended` with the existing and the new entries from the number `from` on. Returns a function to stop. */
  follow(log: string, from: number, appended: (entry: Entry) => void, failed: (error: unknown) => void): () => void;
}

export interface Entry {
  readonly sequence: number;
  readonly writer: string;
  readonly transitions: readonly Transition[];
  /** Whether the log may lack changes made before this entry. */
  readonly isAfterLoss?: boolean;
}

/** Size of an entry. Entries are deleted if a log gets too large. */
export const entrySize = z.object({
  sequence: z.number(),
  transitions: z.number(),
  events: z.number(),
  bytes: z.number(),
  /** Milliseconds since the Unix epoch. */
  at: z.number(),
});
export type EntrySize = Readonly<z.output<typeof entrySize>>;

/** The state of the path after an entry. Loading a log requires only the last checkpoint and the entries after it. */
export interface Checkpoint {
  /** Number of the last entry that the state includes; 0 for the initial state. */
  readonly sequence: number;
  readonly state: State;
  /** Sizes of the entries that have not been deleted yet, oldest first. */
  readonly kept: readonly EntrySize[];
}

export interface LoadedLog {
  readonly checkpoint: Checkpoint;
  readonly entries: readonly Entry[];
}

export interface FirebasePorts extends AccessPorts {
  readonly store: Store<DataChange>;
  readonly databases: DatabaseAccesses;
  readonly subscriptions: SubscriptionQueries;
  readonly events: EventLog;
  readonly leases: WatcherLeases;
}

export type DataChange = ChangeOf<SubscriptionChanges> | AccessChange;
