/** What JSON may hold before any schema looks at it. Walks without recursion, so that depth cannot hurt. */
import { MusterError } from '../domain/errors.ts';

/** How deeply arguments may nest. Firestore itself stops at 20 maps within maps. */
export const MAX_ARGUMENT_DEPTH = 32;

/** With the flag `u` a surrogate that is half of a pair is no longer seen as one. */
const LONE_SURROGATE = /\p{Cs}/u;

interface Visit {
  readonly value: unknown;
  readonly depth: number;
  readonly parent: Visit | undefined;
  readonly key: string;
}

/** Whether `value` nests more than `limit` arrays and objects. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value].filter(isHolder);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= limit) return true;
    level = level.flatMap((holder) => Object.values(holder).filter(isHolder));
  }
  return false;
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
 * NUL characters, numbers beyond range and keys that reach an object's prototype.
 * @throws MusterError VALIDATION_ERROR
 */
export function checkStructure(root: Readonly<Record<string, unknown>>): void {
  const pending: Visit[] = [{ value: root, depth: 0, parent: undefined, key: '' }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { value } = visit;
    if (typeof value === 'string') checkText(value, visit, 'text');
    else if (typeof value === 'number') checkNumber(value, visit);
    else if (isHolder(value)) for (const member of membersOf(value, visit)) pending.push(member);
  }
}

function membersOf(holder: object, visit: Visit): readonly Visit[] {
  const depth = visit.depth + 1;
  if (depth > MAX_ARGUMENT_DEPTH)
    refuse(visit, `nests more than ${MAX_ARGUMENT_DEPTH} levels deep`, 'TOO_DEEP');
  const members = Object.entries(holder).map(([key, value]) => ({ value, depth, parent: visit, key }));
  if (!Array.isArray(holder)) for (const member of members) checkKey(member.key, member);
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
  throw new MusterError('VALIDATION_ERROR', `Argument "${field}" ${what}.`, { field, reason });
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
