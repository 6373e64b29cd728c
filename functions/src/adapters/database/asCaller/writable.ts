/**
 * What the Realtime Database can store of what a caller sends. Checked before it is sent: the database itself
 * only says that something somewhere is wrong. Source: https://firebase.google.com/docs/database/usage/limits
 */
import { invalidDataType } from '../../../domain/data/errors.ts';
import type { DataPath } from '../../../domain/data/path.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { faultOf, MAX_DEPTH } from './keys.ts';

const SHOWN_KEY_LENGTH = 50;

const SERVER_VALUES =
  'Server values are {".sv": "timestamp"} and {".sv": {"increment": 1}}; no other key has a dot.';

/** @throws MusterError INVALID_DATA_TYPE, whose field says where in `data` */
export function checkWritable(path: DataPath, data: JsonValue): void {
  check(data, 'data', path.segments.length);
}

/** The children that an update replaces. @throws MusterError INVALID_DATA_TYPE */
export function checkedChildren(path: DataPath, data: JsonValue): Readonly<Record<string, JsonValue>> {
  if (typeof data !== 'object' || data === null || isList(data)) {
    throw invalidDataType('data', 'update takes an object: the children to replace, by their keys.');
  }
  const children = Object.entries(data).map(([key, child]) => [key, child ?? null] as const);
  for (const [key, child] of children) checkChild(key, child, 'data', path.segments.length);
  return Object.fromEntries(children);
}

/** Whether writing it stores nothing: the database drops null, and whatever is empty. */
export function isNothing(data: JsonValue | undefined): boolean {
  if (data === null || data === undefined) return true;
  return typeof data === 'object' && Object.values(data).every(isNothing);
}

function check(data: JsonValue, field: string, depth: number): void {
  if (depth > MAX_DEPTH) {
    throw invalidDataType(field, `The database is ${MAX_DEPTH} levels deep; this is deeper.`);
  }
  if (typeof data !== 'object' || data === null || isServerValue(data)) return;
  for (const [key, child] of Object.entries(data)) checkChild(key, child ?? null, field, depth);
}

function checkChild(key: string, child: JsonValue, field: string, depth: number): void {
  const at = `${field}.${key.length > SHOWN_KEY_LENGTH ? `${key.slice(0, SHOWN_KEY_LENGTH)}…` : key}`;
  const fault = faultOf(key);
  if (fault !== undefined) throw invalidDataType(at, `A key ${fault}.`, SERVER_VALUES);
  check(child, at, depth + 1);
}

function isServerValue(data: object): boolean {
  const [entry, ...others] = Object.entries(data);
  if (entry === undefined || others.length > 0 || entry[0] !== '.sv') return false;
  const value: unknown = entry[1];
  if (value === 'timestamp') return true;
  if (typeof value !== 'object' || value === null) return false;
  const [increment, ...more] = Object.entries(value);
  return increment?.[0] === 'increment' && typeof increment[1] === 'number' && more.length === 0;
}

function isList(data: JsonValue): data is readonly JsonValue[] {
  return Array.isArray(data);
}
