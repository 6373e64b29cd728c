/**
 * Checks whether the Realtime Database can store a caller's data, before the data is sent. The database's own error
 * does not name the invalid part. Source: https://firebase.google.com/docs/database/usage/limits
 */
import { type JsonValue, jsonObject } from '../../../kernel/json.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import { type Clock, Service } from '../../../kernel/ports.ts';
import { FREE_FORM, FREE_FORM_ROOTS } from '../../../kernel/realtime/database.ts';
import type { DataPath, WriteRequest } from '../rules/databaseAccess.ts';
import { invalidDataType, sizeLimitExceeded } from '../rules/dataErrors.ts';
import { entriesOf, faultOf, MAX_DEPTH } from './order.ts';
import type { CallerRest } from './rest.ts';

const SHOWN_KEY_LENGTH = 50;
const SERVER_VALUES = 'Keys cannot contain a dot, except ".sv" in {".sv": "timestamp"} and {".sv": {"increment": 1}}.';

/** @throws MusterError INVALID_DATA_TYPE with the position of the invalid value in `data` */
export function checkWritable(path: DataPath, data: JsonValue): void {
  check(data, 'data', path.segments.length);
}

/** Returns the children that an update sets. @throws MusterError INVALID_DATA_TYPE if the data is not an object */
export function checkedChildren(path: DataPath, data: JsonValue): Readonly<Record<string, JsonValue>> {
  const object = jsonObject.safeParse(data);
  if (!object.success)
    throw invalidDataType('data', 'The data of an update must be an object with the children to replace.');
  const children = Object.entries(object.data).map(([key, child]) => [key, child ?? null] as const);
  for (const [key, child] of children) checkChild(key, child, 'data', path.segments.length);
  return Object.fromEntries(children);
}

/** Returns whether the database stores nothing for this value, because it is null or has only empty parts. */
export function isNothing(data: JsonValue | undefined): boolean {
  if (data === null || data === undefined) return true;
  return typeof data === 'object' && Object.values(data).every(isNothing);
}

/**
 * Returns whether writing a value can have led to the stored value. The database removes empty parts, and converts
 * between lists and objects. An increment can lead to any number.
 */
export function holds(stored: JsonValue, written: JsonValue): boolean {
  if (isNothing(written)) return stored === null;
  if (typeof written !== 'object' || written === null) return stored === written;
  if (isTimestamp(written)) return typeof stored === 'number';
  const there = new Map(entriesOf(stored));
  const expected = entriesOf(written).filter(([, child]) => !isNothing(child));
  return there.size === expected.length && expected.every(([key, child]) => holds(there.get(key) ?? null, child));
}

function check(data: JsonValue, field: string, depth: number): void {
  if (depth > MAX_DEPTH) throw invalidDataType(field, `The data nests deeper than ${MAX_DEPTH} levels.`);
  if (typeof data !== 'object' || data === null) return;
  if (isTimestamp(data) || incrementIn(data) !== undefined) return;
  for (const [key, child] of Object.entries(data)) checkChild(key, child ?? null, field, depth);
}

function checkChild(key: string, child: JsonValue, field: string, depth: number): void {
  const at = `${field}.${key.length > SHOWN_KEY_LENGTH ? `${key.slice(0, SHOWN_KEY_LENGTH)}…` : key}`;
  const fault = faultOf(key);
  if (fault !== undefined) throw invalidDataType(at, `The key ${fault}.`, SERVER_VALUES);
  check(child, at, depth + 1);
}

/** Recognizes `{".sv": "timestamp"}`. Source: https://firebase.google.com/docs/reference/rest/database */
function isTimestamp(data: object): boolean {
  return onlyIn(data, '.sv') === 'timestamp';
}

/** Returns the number to add, which is 1 in `{".sv": {"increment": 1}}`; undefined for any other data. */
function incrementIn(data: object): number | undefined {
  const increment = onlyIn(onlyIn(data, '.sv'), 'increment');
  return typeof increment === 'number' ? increment : undefined;
}

export function hasIncrement(data: JsonValue): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return incrementIn(data) !== undefined || entriesOf(data).some(([, child]) => hasIncrement(child));
}

/** Returns the data, with increments replaced by their sums with the current values. */
export function incremented(data: JsonValue, current: JsonValue): JsonValue {
  if (typeof data !== 'object' || data === null) return data;
  const increment = incrementIn(data);
  if (increment !== undefined) return increment + (typeof current === 'number' ? current : 0);
  if (!hasIncrement(data)) return data;
  const before = new Map(entriesOf(current));
  return Object.fromEntries(entriesOf(data).map(([key, child]) => [key, incremented(child, before.get(key) ?? null)]));
}

/** Returns the value of `key` if the data is an object with only this key; otherwise undefined. */
function onlyIn(data: unknown, key: string): unknown {
  if (typeof data !== 'object' || data === null) return undefined;
  const [entry, ...others] = Object.entries(data);
  return entry?.[0] === key && others.length === 0 ? entry[1] : undefined;
}

/** Maximum number of children of a list. Larger lists cannot be watched and are slow to read. */
export const MAX_CHILDREN = 10_000;

/** Key of an object that stands for a value which the database computes. */
const SERVER_VALUE = '.sv';

/** Time in milliseconds for which a count is reused. During this time, other callers may change the actual number. */
const COUNT_TTL_MS = 60_000;
const MAX_CACHED_COUNTS = 2000;

interface Counted {
  /** Number of children when they were counted, plus the children that this caller has added since then. */
  count: number;
  readonly at: number;
}

export class ChildLimits extends Service<{ readonly clock: Clock }> {
  /** Counts by caller and list, because callers may have access to different lists. */
  private readonly counted = new BoundedMap<string, Counted>(MAX_CACHED_COUNTS);

  /** @throws MusterError SIZE_LIMIT_EXCEEDED if the list or a list within the data would get too many children */
  async check(rest: CallerRest, { segments }: DataPath, request: WriteRequest): Promise<void> {
    const { operation, data } = request;
    const isFreeForm = FREE_FORM_ROOTS.includes(segments[0] ?? '');
    if (!isFreeForm || operation === 'delete' || isNothing(data)) return;
    checkShape(segments.length + (operation === 'push' ? 1 : 0), data, 'data');
    const list = operation === 'set' ? segments.slice(0, -1) : segments;
    // No caller can list the roots `messages` and `shared`.
    if (list.length === 1) return;
    await this.requireCapacity(rest, list.join('/'), namedBy(segments, request));
  }

  /** @param named keys of the children to write, which may already exist; undefined if the write creates a new key */
  private async requireCapacity(rest: CallerRest, list: string, named: readonly string[] | undefined): Promise<void> {
    const at = this.ports.clock.now().getTime();
    const key = `${rest.caller.principal.uid} ${list}`;
    const known = this.counted.get(key);
    const added = named?.length ?? 1;
    if (known && at - known.at < COUNT_TTL_MS && known.count + added <= MAX_CHILDREN) {
      known.count += added;
      return;
    }
    // A caller that cannot read the list cannot write to the list either, so the write itself will fail.
    const stored = await rest.read({ path: list, parameters: { shallow: 'true' } }).catch(() => undefined);
    if (stored === undefined) return;
    const keys = new Set(keysOf(stored.data));
    const more = named === undefined ? 1 : named.filter((each) => !keys.has(each)).length;
    if (more > 0 && keys.size + more > MAX_CHILDREN) throw listFull('path', `"${list}"`);
    this.counted.set(key, { count: keys.size + more, at });
  }
}

/** Returns the keys of the children that a write sets; undefined if the write creates a new key. */
function namedBy(
  segments: readonly string[],
  { operation, data, repetition }: WriteRequest,
): readonly string[] | undefined {
  if (operation === 'set') return segments.slice(-1);
  if (operation === 'update') return keysOf(data);
  return repetition && [repetition.id];
}

function keysOf(data: JsonValue): readonly string[] {
  if (typeof data !== 'object' || data === null) return [];
  return entriesOf(data).flatMap(([key, child]) => (isNothing(child) ? [] : [key]));
}

/** Checks lists in the data, and also text length and depth, because the rules do not report why they deny. */
function checkShape(level: number, data: JsonValue, field: string): void {
  if (isNothing(data)) return;
  if (typeof data === 'string' && data.length > FREE_FORM.characters)
    throw sizeLimitExceeded(field, `Texts can have at most ${FREE_FORM.characters} characters.`, 'Split the text.');
  if (level > FREE_FORM.levels)
    throw invalidDataType(
      field,
      `The data nests deeper than ${FREE_FORM.levels} levels, the maximum under messages and shared.`,
    );
  if (typeof data !== 'object' || data === null) return;
  const entries = entriesOf(data).filter(([key]) => key !== SERVER_VALUE);
  if (entries.length > MAX_CHILDREN) throw listFull(field, 'The list');
  for (const [key, child] of entries) checkShape(level + 1, child, `${field}.${key}`);
}

function listFull(field: string, list: string) {
  return sizeLimitExceeded(
    field,
    `${list} would have more than ${MAX_CHILDREN} children.`,
    'Delete old children, or use several lists, such as one per day or per conversation.',
  );
}
