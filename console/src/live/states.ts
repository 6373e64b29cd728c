/** Types of loaded data: one item, a list, and the tasks of a session. */
import type { Task } from './documents.ts';

export type Live<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'live'; readonly value: Value }
  /** The connection is lost. The value is the last known value. */
  | { readonly state: 'stale'; readonly value: Value; readonly asOf: Date }
  | { readonly state: 'denied' }
  | { readonly state: 'failed'; readonly why: string };

/** Returns the state after a new value. After a refusal, only a value that the server has confirmed counts. */
export function nextState<Value>(before: Live<Value>, value: Value, isFresh: boolean, now: Date): Live<Value> {
  if (isFresh) return { state: 'live', value };
  if (before.state === 'denied') return before;
  return { state: 'stale', value, asOf: before.state === 'stale' ? before.asOf : now };
}

/** Rows of a list. Unreadable documents are skipped, and the page shows their number. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly unreadable: number;
  readonly isTruncated: boolean;
}

export interface Paged<Row> {
  readonly live: Live<Rows<Row>>;
  /** Number of matching documents; undefined while it is unknown. */
  readonly count: number | undefined;
  /** Loads further rows; undefined if all rows are loaded. */
  readonly more: (() => void) | undefined;
}

export type Counts = Readonly<Record<string, number>>;

/** Open tasks in separate lists, so that many blocked tasks do not displace tasks in progress. */
export interface OpenParts {
  readonly held: Paged<Task>;
  readonly claimable: Paged<Task>;
  /** Blocked tasks, including stuck tasks. */
  readonly blocked: Paged<Task>;
}

/** Returns the loaded rows of a list; none while it loads. */
export function rowsOf<Row>({ live }: Paged<Row>): readonly Row[] {
  return 'value' in live ? live.value.rows : [];
}
