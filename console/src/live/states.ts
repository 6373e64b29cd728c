/** The states in which the page knows things: one that is listened to, a list, the tasks of a session. */
import type { Task } from './documents.ts';

export type Live<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'live'; readonly value: Value }
  /** The connection is lost: the last known value. */
  | { readonly state: 'stale'; readonly value: Value; readonly asOf: Date }
  /** The person may not see it. */
  | { readonly state: 'denied' }
  | { readonly state: 'failed'; readonly why: string };

/** Returns the state after a value has arrived: cached data (`isFresh` false) does not lift a refusal, the server's does. */
export function afterHearing<Value>(
  before: Live<Value>,
  value: Value,
  isFresh: boolean,
  now: Date,
): Live<Value> {
  if (isFresh) return { state: 'live', value };
  if (before.state === 'denied') return before;
  return { state: 'stale', value, asOf: before.state === 'stale' ? before.asOf : now };
}

/** Documents that could not be read are skipped; the page shows how many. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly unreadable: number;
  /** Whether more documents match than these. */
  readonly isCut: boolean;
}

export interface Paged<Row> {
  readonly live: Live<Rows<Row>>;
  /** How many match; undefined until that is known. */
  readonly count: number | undefined;
  /** Loads more; undefined if all that match are loaded. */
  readonly more: (() => void) | undefined;
}

export type Counts = Readonly<Record<string, number>>;

/** The open tasks in parts, so that no number of waiting tasks hides those at work. */
export interface OpenParts {
  readonly held: Paged<Task>;
  readonly claimable: Paged<Task>;
  /** Those that can never start are among them. */
  readonly blocked: Paged<Task>;
}
