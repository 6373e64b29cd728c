/** Turns a call's raw arguments into checked ones, or says what is wrong in words that a model can act on. */

import { z } from 'zod';
import { type ErrorCode, MusterError } from '../kernel/errors.ts';
import { checkJsonLimits, fieldPath, shownName } from './jsonLimits.ts';
import { arrayBoundsOf, unwrapped } from './jsonSchema.ts';

const SHOWN_ISSUES = 5;
const SHOWN_UNKNOWN = 5;
const SHOWN_VALUE_LENGTH = 100;

type Raw = Readonly<Record<string, unknown>>;

interface Finding {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field: string;
  readonly reason: string;
  readonly value: unknown;
}

/** Turns raw arguments into checked ones. */
type CheckArguments<Schema extends z.ZodObject> = (raw: Raw) => z.output<Schema>;

/**
 * Prepares a schema, once, to check the arguments of its calls.
 * @param known the names to list where an argument is unknown; the schema's own unless others are checked
 *   elsewhere
 * @returns what throws MusterError VALIDATION_ERROR, REQUIRED_FIELD or INVALID_FORMAT, naming the argument
 */
export function argumentsChecker<Schema extends z.ZodObject>(
  schema: Schema,
  known: readonly string[] = Object.keys(schema.shape),
): CheckArguments<Schema> {
  const bounds = arrayBoundsOf(schema);
  return (raw) => {
    checkJsonLimits(raw, bounds);
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const { issues } = parsed.error;
    const findings = issues.slice(0, SHOWN_ISSUES).map((issue) => describe(issue, schema, raw, known));
    throw asMusterError(findings, issues.length);
  };
}

/** @param count how many there are in all */
function asMusterError(findings: readonly Finding[], count: number): MusterError {
  const [first] = findings;
  if (first === undefined) return new MusterError('VALIDATION_ERROR', 'The arguments are not valid.');
  const shown = findings.map((finding) => finding.message);
  if (count > findings.length) shown.push(`And ${count - findings.length} more.`);
  return new MusterError(first.code, shown.join(' '), {
    field: first.field,
    reason: first.reason,
    ...(isShowable(first.value) && { value: first.value }),
  });
}

function describe(issue: z.core.$ZodIssue, schema: z.ZodObject, raw: Raw, known: readonly string[]): Finding {
  if (issue.code === 'unrecognized_keys') return describeUnknown(issue.keys, issue.path, schema, known);
  const field = fieldPath(issue.path);
  const value = valueAt(raw, issue.path);
  if (value === undefined && issue.path.length > 0 && issue.code !== 'custom') {
    const about = descriptionAt(schema, issue.path);
    const message = `Missing required argument "${field}"${about === undefined ? '.' : `: ${sentence(about)}`}`;
    return { code: 'REQUIRED_FIELD', message, field, reason: 'MISSING', value };
  }
  const code = issue.code === 'invalid_format' ? 'INVALID_FORMAT' : 'VALIDATION_ERROR';
  const subject = field === '' ? 'The arguments' : `Argument "${field}"`;
  return {
    code,
    message: `${subject}: ${isAboutTime(issue, schema) ? EXPECTED_TIME : sentence(issue.message)}`,
    field,
    reason: issue.code.toUpperCase(),
    value,
  };
}

function describeUnknown(
  keys: readonly string[],
  path: readonly PropertyKey[],
  schema: z.ZodObject,
  known: readonly string[],
): Finding {
  const names = path.length === 0 ? known : namesAt(schema, path);
  const quoted = keys.slice(0, SHOWN_UNKNOWN).map((key) => `"${fieldPath([...path, key])}"`);
  const more = keys.length > SHOWN_UNKNOWN ? ` and ${keys.length - SHOWN_UNKNOWN} more` : '';
  const message = `Unknown argument${keys.length > 1 ? 's' : ''} ${quoted.join(', ')}${more}. ${knownNames(names, path)}`;
  const field = fieldPath([...path, keys[0] ?? '']);
  return { code: 'VALIDATION_ERROR', message, field, reason: 'UNKNOWN_ARGUMENT', value: undefined };
}

function knownNames(names: readonly string[], path: readonly PropertyKey[]): string {
  const where = path.length === 0 ? 'Known arguments' : `Known in "${fieldPath(path)}"`;
  return `${where}: ${names.length === 0 ? 'none' : names.join(', ')}.`;
}

/** A date without a time, or a time without a zone, would be a different moment to each reader. */
const EXPECTED_TIME =
  'expected a date and a time with "Z" or an offset, as in "2026-02-10T17:00:00Z" or "2026-02-10T17:00:00+01:00".';

function isAboutTime(issue: z.core.$ZodIssue, schema: z.ZodObject): boolean {
  if (issue.code === 'invalid_format') return issue.format === 'datetime';
  return issue.code === 'invalid_type' && schemaAt(schema, issue.path) instanceof z.ZodISODateTime;
}

/** What the schema says of the argument at a path. */
function descriptionAt(schema: z.ZodObject, path: readonly PropertyKey[]): string | undefined {
  const described = memberAt(schema, path);
  return described && z.globalRegistry.get(described)?.description;
}

/** The names that the schema has at a path. */
function namesAt(schema: z.ZodObject, path: readonly PropertyKey[]): readonly string[] {
  const object = schemaAt(schema, path);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

/** The schema at a path, without what wraps it. */
function schemaAt(schema: z.ZodObject, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  return unwrapped(memberAt(schema, path));
}

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

/** Whether a value is short and plain enough to be sent back. */
export function isShowable(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= SHOWN_VALUE_LENGTH && shownName(value) === value;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

// Holds tools to `kernel/ids.ts`: what an argument calls an id is one, or the tool does not compile.

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

/** Nothing more, or what no schema has: its error names the arguments. */
export type WithBrandedIds<Input extends z.ZodObject> = [PlainIds<z.output<Input>>] extends [never]
  ? unknown
  : { readonly 'takes ids as plain text': PlainIds<z.output<Input>> };
