/**
 * Checks whether the Realtime Database can store a caller's data, before the data is sent. The database's own error
 * does not name the invalid part. Source: https://firebase.google.com/docs/database/usage/limits
 */
import { type JsonValue, jsonObject } from '../../../kernel/json.ts';
import type { DataPath } from '../rules/databaseAccess.ts';
import { invalidDataType } from '../rules/dataErrors.ts';
import { entriesOf, faultOf, MAX_DEPTH } from './order.ts';

const SHOWN_KEY_LENGTH = 50;

const SERVER_VALUES = 'Keys cannot contain a dot, except ".sv" in {".sv": "timestamp"} and {".sv": {"increment": 1}}.';

/** @throws MusterError INVALID_DATA_TYPE with the position of the invalid value in `data` */
export function checkWritable(path: DataPath, data: JsonValue): void {
  check(data, 'data', path.segments.length);
}

/** Returns the children that an update sets. @throws MusterError INVALID_DATA_TYPE if the data is not an object */
export function checkedChildren(path: DataPath, data: JsonValue): Readonly<Record<string, JsonValue>> {
  const object = jsonObject.safeParse(data);
  if (!object.success) {
    throw invalidDataType('data', 'The data of an update must be an object with the children to replace.');
  }
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
  if (depth > MAX_DEPTH) {
    throw invalidDataType(field, `The data nests deeper than ${MAX_DEPTH} levels.`);
  }
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
