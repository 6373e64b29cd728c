/**
 * The Realtime Database's order of children. REST selects by it, and answers without it.
 * Source: https://firebase.google.com/docs/database/rest/retrieve-data, "How data is ordered".
 */
import type { JsonValue } from '../../../kernel/json.ts';
import type { Bound, ReadQuery } from '../rules/databaseAccess.ts';
import { invalidRequest } from '../rules/dataErrors.ts';

interface Ranked {
  readonly key: string;
  readonly rank: Rank;
}

export interface Child extends Ranked {
  readonly data: JsonValue;
}

/** Nothing, a value, or something with children of its own: of those only the keys decide. */
export type Rank = Bound | null | typeof BRANCH;

export const BRANCH: unique symbol = Symbol('branch');

const INTEGER = /^-?0*\d{1,10}$/;
const [SMALLEST_INTEGER, LARGEST_INTEGER] = [-2_147_483_648, 2_147_483_647];

/** @param orderBy a child's path, `$key` or `$value` */
export function childrenIn(data: JsonValue, orderBy: string): readonly Child[] {
  return entriesOf(data)
    .map(([key, child]): Child => ({ key, data: child, rank: rankOf(child, orderBy) }))
    .sort(compareChildren);
}

/** Whether a child lies between the bounds of a query, which belong to it. */
export function isBetween({ rank }: Child, startAt: Bound | undefined, endAt: Bound | undefined): boolean {
  return (
    (startAt === undefined || compareRanks(rank, startAt) >= 0) &&
    (endAt === undefined || compareRanks(rank, endAt) <= 0)
  );
}

/** The children of a node. The database makes a list of those whose keys count up from 0, with nulls in gaps. */
export function entriesOf(data: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries<JsonValue | undefined>(data).flatMap(([key, child]) =>
    child === null || child === undefined ? [] : [[key, child] as const],
  );
}

export function compareChildren(one: Ranked, other: Ranked): number {
  return compareRanks(one.rank, other.rank) || compareKeys(one.key, other.key);
}

/** Keys that read as 32-bit integers come first, by number; `007` follows `7`. */
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
  return number >= SMALLEST_INTEGER && number <= LARGEST_INTEGER ? number : undefined;
}

function compareRanks(one: Rank, other: Rank): number {
  const difference = classOf(one) - classOf(other);
  if (difference !== 0 || one === other) return difference;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : 1;
  return Number(one) - Number(other);
}

/** Nothing, false, true, numbers, strings, branches. */
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

export interface CheckedQuery {
  /** A child's path, `$key` or `$value`. */
  readonly orderBy: string;
  readonly limit: number;
  readonly startAt: Bound | undefined;
  readonly endAt: Bound | undefined;
}

/** @throws MusterError VALIDATION_ERROR */
export function checkedQuery(query: ReadQuery): CheckedQuery {
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
  const fault = typeof bound === 'string' ? faultOf(bound) : 'is no text';
  if (fault === undefined) return;
  const what = `In the order of keys a bound is a key; this one ${fault}.`;
  throw invalidRequest(field, what, 'Name a key, or order by a child.');
}

const MAX_KEY_BYTES = 768;

/** Levels below the root. */
export const MAX_DEPTH = 32;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the database refuses exactly these
const FORBIDDEN = /[.#$[\]/\u0000-\u001f\u007f]/;

/** The fault of a key that the database does not allow. Source: https://firebase.google.com/docs/database/usage/limits */
export function faultOf(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (FORBIDDEN.test(key)) return 'holds one of . # $ [ ] / or a control character';
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return `is longer than ${MAX_KEY_BYTES} bytes`;
  return undefined;
}
