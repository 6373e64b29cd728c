/**
 * Sorts children in the order of the Realtime Database. REST queries select children by this order, but return
 * unsorted data. Source: https://firebase.google.com/docs/database/rest/retrieve-data, "How data is ordered".
 */
import type { JsonValue } from '../../../kernel/json.ts';
import type { Bound, ReadQuery } from '../rules/databaseAccess.ts';
import { invalidRequest } from '../rules/dataErrors.ts';

export interface Child {
  readonly key: string;
  readonly rank: Rank;
  readonly data: JsonValue;
}

/** Value by which a child is sorted. A node with children (BRANCH) has no such value: only its key counts. */
export type Rank = Bound | null | typeof BRANCH;
export const BRANCH: unique symbol = Symbol('branch');
const INTEGER = /^-?0*\d{1,10}$/;
const [MIN_INTEGER, MAX_INTEGER] = [-2_147_483_648, 2_147_483_647];

/** Returns the children in order. @param orderBy path below a child, `$key` or `$value` */
export function childrenIn(data: JsonValue, orderBy: string): readonly Child[] {
  return entriesOf(data)
    .map(([key, child]): Child => ({ key, data: child, rank: rankOf(child, orderBy) }))
    .sort(compareChildren);
}

/** Returns whether a child is within the bounds of a query. Children that equal a bound are included. */
export function isBetween({ rank }: Child, startAt: Bound | undefined, endAt: Bound | undefined): boolean {
  return (
    (startAt === undefined || compareRanks(rank, startAt) >= 0) &&
    (endAt === undefined || compareRanks(rank, endAt) <= 0)
  );
}

/** Returns a node's children. If most keys are numbers, the database returns a list, with null in its gaps. */
export function entriesOf(data: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries<JsonValue | undefined>(data).flatMap(([key, child]) =>
    child === null || child === undefined ? [] : [[key, child] as const],
  );
}

export function compareChildren(one: Omit<Child, 'data'>, other: Omit<Child, 'data'>): number {
  return compareRanks(one.rank, other.rank) || compareKeys(one.key, other.key);
}

/** Compares keys: 32-bit integers come first, in numeric order; `7` comes before `007`. */
function compareKeys(one: string, other: string): number {
  const [first, second] = [integerIn(one), integerIn(other)];
  if (first !== undefined && second !== undefined) return first - second || one.length - other.length;
  if (first !== undefined) return -1;
  if (second !== undefined) return 1;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function integerIn(key: string): number | undefined {
  const number = INTEGER.test(key) ? Number(key) : Number.NaN;
  return number >= MIN_INTEGER && number <= MAX_INTEGER ? number : undefined;
}

function compareRanks(one: Rank, other: Rank): number {
  const difference = classOf(one) - classOf(other);
  if (difference !== 0 || one === other) return difference;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : 1;
  return Number(one) - Number(other);
}

/** Order of types: null, false, true, numbers, strings, nodes with children. */
function classOf(rank: Rank): number {
  if (rank === null) return 0;
  if (rank === BRANCH) return 4;
  if (typeof rank === 'boolean') return 1;
  return typeof rank === 'number' ? 2 : 3;
}

function rankOf(child: JsonValue, orderBy: string): Rank {
  if (orderBy === '$key') return null;
  const value = orderBy === '$value' ? child : orderBy.split('/').reduce(valueAt, child);
  return typeof value === 'object' && value !== null ? BRANCH : value;
}

function valueAt(data: JsonValue, key: string): JsonValue {
  return entriesOf(data).find(([one]) => one === key)?.[1] ?? null;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export type CheckedQuery = ReturnType<typeof checkedQuery>;

/** @throws MusterError VALIDATION_ERROR if the order or a bound is invalid */
export function checkedQuery(query: ReadQuery) {
  const { orderBy = '$key', limit = DEFAULT_LIMIT, startAt, endAt } = query;
  if (orderBy === '$key') {
    checkKeyBound('query.startAt', startAt);
    checkKeyBound('query.endAt', endAt);
  } else if (orderBy !== '$value') {
    checkOrder(orderBy);
  }
  return { orderBy, limit: Math.min(limit, MAX_LIMIT), startAt, endAt };
}

function checkOrder(orderBy: string): void {
  const keys = orderBy.split('/');
  const fault = keys.map(faultOf).find((one) => one !== undefined);
  if (fault === undefined && keys.length <= MAX_DEPTH) return;
  const what = fault === undefined ? `has more than ${MAX_DEPTH} keys` : `has a key that ${fault}`;
  throw invalidRequest(
    'query.orderBy',
    `orderBy ${what}.`,
    'Order by a child such as "created_at" or "author/name", by "$key" or by "$value".',
  );
}

function checkKeyBound(field: string, bound: Bound | undefined): void {
  if (bound === undefined) return;
  const fault = typeof bound === 'string' ? faultOf(bound) : 'is not text';
  if (fault === undefined) return;
  const what = `When ordering by key, bounds must be keys; this bound ${fault}.`;
  throw invalidRequest(field, what, 'Use a key, or order by a child.');
}

const MAX_KEY_BYTES = 768;

/** In levels below the root of the database. */
export const MAX_DEPTH = 32;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the database rejects exactly these
const FORBIDDEN = /[.#$[\]/\u0000-\u001f\u007f]/;

/** Returns why the database rejects a key. Source: https://firebase.google.com/docs/database/usage/limits */
export function faultOf(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (FORBIDDEN.test(key)) return 'contains one of . # $ [ ] / or a control character';
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return `is longer than ${MAX_KEY_BYTES} bytes`;
  return undefined;
}
