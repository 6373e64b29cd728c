/** What JSON may hold before any schema looks at it. Walks without recursion, so that depth cannot hurt. */
import { MusterError } from '../kernel/errors.ts';
import type { ArrayBounds } from './jsonSchema.ts';

/** How deeply arguments may nest. Firestore itself stops at 20 maps within maps. */
const MAX_ARGUMENT_DEPTH = 32;

/** Values of any kind in one call's arguments. What is checked costs time and memory for each of them. */
const MAX_ARGUMENT_VALUES = 50_000;

/** Names in one object. */
const MAX_KEYS = 10_000;

/** With the flag `u` a surrogate that is half of a pair is no longer seen as one. */
const LONE_SURROGATE = /\p{Cs}/u;

interface Visit {
  readonly value: unknown;
  readonly depth: number;
  readonly parent: Visit | undefined;
  readonly key: string;
  readonly bounds: ArrayBounds | undefined;
}

/** Whether a value is an object as JSON has them. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isHolder(value) && !Array.isArray(value);
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Refuses what no schema here can mean and Firestore cannot store: deep nesting, text that is not Unicode,
 * NUL characters, numbers beyond range and keys that reach an object's prototype; and more than a schema should
 * have to look at, before it is put on any list.
 * @param bounds of the arrays that the schema knows
 * @throws MusterError VALIDATION_ERROR
 */
export function checkJsonLimits(root: Readonly<Record<string, unknown>>, bounds?: ArrayBounds): void {
  const pending: Visit[] = [{ value: root, depth: 0, parent: undefined, key: '', bounds }];
  let values = 0;
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { value } = visit;
    if (typeof value === 'string') checkText(value, visit, 'text');
    else if (typeof value === 'number') checkNumber(value, visit);
    else if (isHolder(value)) {
      values += countOf(value, visit);
      if (values > MAX_ARGUMENT_VALUES) refuseAll();
      for (const member of membersOf(value, visit)) pending.push(member);
    }
  }
}

/** How many members it has, where that is not too many for one. */
function countOf(holder: object, visit: Visit): number {
  if (!Array.isArray(holder)) {
    const count = Object.keys(holder).length;
    if (count > MAX_KEYS) refuse(visit, `has ${count} names; at most ${MAX_KEYS} can be taken`, 'TOO_MANY');
    return count;
  }
  const most = visit.bounds?.most;
  const count = holder.length;
  if (most !== undefined && count > most)
    refuse(visit, `has ${count} entries; at most ${most} can be taken`, 'TOO_MANY');
  return count;
}

function membersOf(holder: object, visit: Visit): readonly Visit[] {
  const depth = visit.depth + 1;
  if (depth > MAX_ARGUMENT_DEPTH)
    refuse(visit, `nests more than ${MAX_ARGUMENT_DEPTH} levels deep`, 'TOO_DEEP');
  const { bounds } = visit;
  const isArray = Array.isArray(holder);
  const members = Object.entries(holder).map(([key, value]) => ({
    value,
    depth,
    parent: visit,
    key,
    bounds: isArray ? bounds?.element : bounds?.fields?.get(key),
  }));
  if (!isArray) for (const member of members) checkKey(member.key, member);
  return members;
}

function checkNumber(value: number, visit: Visit): void {
  if (!Number.isFinite(value)) refuse(visit, 'is a number beyond range', 'OUT_OF_RANGE');
}

function checkKey(key: string, visit: Visit): void {
  if (key === '__proto__') refuse(visit, 'is a name that no field may have', 'INVALID_NAME');
  checkText(key, visit, 'name');
}

function checkText(text: string, visit: Visit, kind: 'text' | 'name'): void {
  if (text.includes('\0')) refuse(visit, `has a NUL character in its ${kind}`, 'INVALID_TEXT');
  if (LONE_SURROGATE.test(text)) refuse(visit, `has half of a surrogate pair in its ${kind}`, 'INVALID_TEXT');
}

function refuse(visit: Visit, what: string, reason: string): never {
  const keys: string[] = [];
  for (let at: Visit | undefined = visit; at?.parent !== undefined; at = at.parent) keys.unshift(at.key);
  const field = fieldPath(keys);
  const subject = keys.length === 0 ? 'The object of arguments' : `Argument "${field}"`;
  throw new MusterError('VALIDATION_ERROR', `${subject} ${what}.`, { field, reason });
}

function refuseAll(): never {
  const most = MAX_ARGUMENT_VALUES;
  throw new MusterError('VALIDATION_ERROR', `The arguments hold more than ${most} values.`, {
    reason: 'TOO_MANY',
    suggestion: 'Split the call into several.',
  });
}

const SHOWN_KEY_LENGTH = 60;
const SHOWN_KEYS = 8;

/** A dotted path fit to be shown, whatever the keys are: `tasks.3.priority`. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => shownName(String(key)));
  return shown.join('.') + (keys.length > SHOWN_KEYS ? '.…' : '');
}

/** A name out of a request, shortened and with what cannot be printed replaced. */
export function shownName(name: string): string {
  const printable = name.slice(0, SHOWN_KEY_LENGTH).replace(/\p{C}/gu, '\ufffd');
  return name.length > SHOWN_KEY_LENGTH ? `${printable}…` : printable;
}
