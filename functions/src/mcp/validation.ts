/** Turns a call's raw arguments into checked ones, or says what is wrong in words that a model can act on. */

import { z } from 'zod';
import { MusterError } from '../kernel/errors.ts';
import { type ArrayBounds, arrayBoundsOf, unwrapped } from './jsonSchema.ts';

type Raw = Readonly<Record<string, unknown>>;

/**
 * Prepares a schema, once, to check the arguments of its calls.
 * @param known the names to list where an argument is unknown; the schema's own unless others are checked
 *   elsewhere
 * @returns what throws MusterError VALIDATION_ERROR, REQUIRED_FIELD or INVALID_FORMAT, naming the argument
 */
export function argumentsChecker<Schema extends z.ZodObject>(
  schema: Schema,
  known: readonly string[] = Object.keys(schema.shape),
): (raw: Raw) => z.output<Schema> {
  const bounds = arrayBoundsOf(schema);
  return (raw) => {
    checkJsonLimits(raw, bounds);
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const { issues } = parsed.error;
    const shown = issues.slice(0, SHOWN_ISSUES).map((issue) => describe(issue, schema, raw, known));
    const messages = shown.map(({ message }) => message);
    if (issues.length > shown.length) messages.push(`And ${issues.length - shown.length} more.`);
    const [first] = shown;
    throw new MusterError(first?.code ?? 'VALIDATION_ERROR', messages.join(' '), first?.details);
  };
}

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

/**
 * Refuses what no schema here can mean and Firestore cannot store: deep nesting, text that is not Unicode,
 * NUL characters, numbers beyond range and keys that reach an object's prototype; and more than a schema should
 * have to look at, before it is put on any list. It walks without recursion, so that depth cannot hurt.
 * @param bounds of the arrays that the schema knows
 * @throws MusterError VALIDATION_ERROR
 */
export function checkJsonLimits(root: Raw, bounds?: ArrayBounds): void {
  const pending: Visit[] = [{ value: root, depth: 0, parent: undefined, key: '', bounds }];
  let values = 0;
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { value } = visit;
    if (typeof value === 'string') checkText(value, visit, 'text');
    else if (typeof value === 'number' && !Number.isFinite(value)) {
      refuse(visit, 'is a number beyond range', 'OUT_OF_RANGE');
    } else if (typeof value === 'object' && value !== null) {
      values += countOf(value, visit);
      if (values > MAX_ARGUMENT_VALUES) {
        const message = `The arguments hold more than ${MAX_ARGUMENT_VALUES} values.`;
        const suggestion = 'Split the call into several.';
        throw new MusterError('VALIDATION_ERROR', message, { reason: 'TOO_MANY', suggestion });
      }
      for (const member of membersOf(value, visit)) pending.push(member);
    }
  }
}

/** How many members it has, where that is not too many for one. */
function countOf(holder: object, visit: Visit): number {
  const isArray = Array.isArray(holder);
  const count = isArray ? holder.length : Object.keys(holder).length;
  const most = isArray ? visit.bounds?.most : MAX_KEYS;
  if (most === undefined || count <= most) return count;
  const what = `has ${count} ${isArray ? 'entries' : 'names'}; at most ${most} can be taken`;
  return refuse(visit, what, 'TOO_MANY');
}

function membersOf(holder: object, visit: Visit): readonly Visit[] {
  const depth = visit.depth + 1;
  if (depth > MAX_ARGUMENT_DEPTH)
    refuse(visit, `nests more than ${MAX_ARGUMENT_DEPTH} levels deep`, 'TOO_DEEP');
  const isArray = Array.isArray(holder);
  return Object.entries(holder).map(([key, value]) => {
    const bounds = isArray ? visit.bounds?.element : visit.bounds?.fields?.get(key);
    const member = { value, depth, parent: visit, key, bounds };
    if (key === '__proto__') refuse(member, 'is a name that no field may have', 'INVALID_NAME');
    if (!isArray) checkText(key, member, 'name');
    return member;
  });
}

/** Whether both databases can store a text and look for it. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text);
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

const SHOWN_ISSUES = 5;
const SHOWN_UNKNOWN = 5;

/** A date without a time, or a time without a zone, would be a different moment to each reader. */
const EXPECTED_TIME =
  'expected a date and a time with "Z" or an offset, as in "2026-02-10T17:00:00Z" or "2026-02-10T17:00:00+01:00".';

function describe(
  issue: z.core.$ZodIssue,
  schema: z.ZodObject,
  raw: Raw,
  known: readonly string[],
): MusterError {
  if (issue.code === 'unrecognized_keys') return describeUnknown(issue.keys, issue.path, schema, known);
  const field = fieldPath(issue.path);
  const value = valueAt(raw, issue.path);
  const member = memberAt(schema, issue.path);
  if (value === undefined && issue.path.length > 0 && issue.code !== 'custom') {
    const about = member && z.globalRegistry.get(member)?.description;
    const message = `Missing required argument "${field}"${about === undefined ? '.' : `: ${sentence(about)}`}`;
    return new MusterError('REQUIRED_FIELD', message, { field, reason: 'MISSING' });
  }
  const isAboutTime =
    issue.code === 'invalid_format'
      ? issue.format === 'datetime'
      : issue.code === 'invalid_type' && unwrapped(member) instanceof z.ZodISODateTime;
  const subject = field === '' ? 'The arguments' : `Argument "${field}"`;
  const message = `${subject}: ${isAboutTime ? EXPECTED_TIME : sentence(issue.message)}`;
  const code = issue.code === 'invalid_format' ? 'INVALID_FORMAT' : 'VALIDATION_ERROR';
  const reason = issue.code.toUpperCase();
  return new MusterError(code, message, { field, reason, ...(isShowable(value) && { value }) });
}

function describeUnknown(
  keys: readonly string[],
  path: readonly PropertyKey[],
  schema: z.ZodObject,
  known: readonly string[],
): MusterError {
  const holder = unwrapped(memberAt(schema, path));
  const own = holder instanceof z.ZodObject ? Object.keys(holder.shape) : [];
  const names = (path.length === 0 ? known : own).join(', ') || 'none';
  const where = path.length === 0 ? 'Known arguments' : `Known in "${fieldPath(path)}"`;
  const quoted = keys.slice(0, SHOWN_UNKNOWN).map((key) => `"${fieldPath([...path, key])}"`);
  const more = keys.length > SHOWN_UNKNOWN ? ` and ${keys.length - SHOWN_UNKNOWN} more` : '';
  const unknown = `Unknown argument${keys.length > 1 ? 's' : ''} ${quoted.join(', ')}${more}`;
  const field = fieldPath([...path, keys[0] ?? '']);
  return new MusterError('VALIDATION_ERROR', `${unknown}. ${where}: ${names}.`, {
    field,
    reason: 'UNKNOWN_ARGUMENT',
  });
}

/** The schema at a path, with what wraps it. */
function memberAt(schema: z.ZodObject, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const key of path) {
    const holder = unwrapped(at);
    if (holder instanceof z.ZodObject) at = holder.shape[String(key)];
    else if (holder instanceof z.ZodArray) at = holder.element;
    else return undefined;
  }
  return at;
}

/** What stands at a path of what was sent. */
export function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** How arguments are called that are ids. */
type IdName = `${string}_id` | `${string}_ids` | `${string}Id` | `${string}Ids`;

/** An id of GitHub's, which GitHub judges. */
type ForeignName = 'workflow_id';

type IsPlainText<Value> = string extends (Value extends readonly (infer Each)[] ? Each : Value)
  ? true
  : false;

/** The arguments that are called ids and that `kernel/ids.ts` has not looked at. */
type PlainIds<Arguments> = {
  [Name in keyof Arguments]-?: Name extends Exclude<keyof Arguments & IdName, ForeignName>
    ? IsPlainText<NonNullable<Arguments[Name]>> extends true
      ? Name
      : never
    : never;
}[keyof Arguments];

/**
 * Holds tools to `kernel/ids.ts`: what an argument calls an id is one, or the tool does not compile. Nothing more, or
 * what no schema has: its error names the arguments.
 */
export type WithBrandedIds<Input extends z.ZodObject> = [PlainIds<z.output<Input>>] extends [never]
  ? unknown
  : { readonly 'takes ids as plain text': PlainIds<z.output<Input>> };

const SHOWN_KEY_LENGTH = 60;
const SHOWN_KEYS = 8;
const SHOWN_VALUE_LENGTH = 100;

/** A dotted path fit to be shown, whatever the keys are: `tasks.3.priority`. */
function fieldPath(keys: readonly PropertyKey[]): string {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => shownName(String(key)));
  return shown.join('.') + (keys.length > SHOWN_KEYS ? '.…' : '');
}

/** A name out of a request, shortened and with what cannot be printed replaced. */
export function shownName(name: string): string {
  const printable = name.slice(0, SHOWN_KEY_LENGTH).replace(/\p{C}/gu, '\ufffd');
  return name.length > SHOWN_KEY_LENGTH ? `${printable}…` : printable;
}

/** Whether a value is short and plain enough to be sent back. */
export function isShowable(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= SHOWN_VALUE_LENGTH && shownName(value) === value;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/** Whether a value is an object as JSON has them. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
