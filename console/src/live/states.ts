/** States of loaded data: one item, a list, and a session's tasks. */
import type { Task } from './documents.ts';

export type Live<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'live'; readonly value: Value }
  /** The connection is lost: the last known value. */
  | { readonly state: 'stale'; readonly value: Value; readonly asOf: Date }
  /** The person has no access. */
  | { readonly state: 'denied' }
  | { readonly state: 'failed'; readonly why: string };

/** Returns the state after a value: cached data (`isFresh` false) does not lift a refusal, the server's does. */
export function nextState<Value>(before: Live<Value>, value: Value, isFresh: boolean, now: Date): Live<Value> {
  if (isFresh) return { state: 'live', value };
  if (before.state === 'denied') return before;
  return { state: 'stale', value, asOf: before.state === 'stale' ? before.asOf : now };
}

/** Unreadable documents are skipped; the page shows their number. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly unreadable: number;
  /** Whether more documents match. */
  readonly isTruncated: boolean;
}

export interface Paged<Row> {
  readonly live: Live<Rows<Row>>;
  /** Number of matches; undefined until known. */
  readonly count: number | undefined;
  /** Loads more; undefined if all matches are loaded. */
  readonly more: (() => void) | undefined;
}

export type Counts = Readonly<Record<string, number>>;

/** Open tasks in parts, so that many waiting tasks do not hide those in progress. */
export interface OpenParts {
  readonly held: Paged<Task>;
  readonly claimable: Paged<Task>;
  /** Includes stuck tasks. */
  readonly blocked: Paged<Task>;
}
