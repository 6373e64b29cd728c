/** Turns a call's raw arguments into checked ones, or says what is wrong in words that a model can act on. */

import { z } from 'zod';
import { MusterError } from '../kernel/errors.ts';
import { unwrapped } from './jsonSchema.ts';
import { normalizer } from './normalizing.ts';
import { fieldPath, isShowable } from './shown.ts';

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
  const normalize = normalizer(schema);
  const ignored = ADDED_BY_CLIENTS.filter((name) => !known.includes(name) && !(name in schema.shape));
  return (sent) => {
    const raw = normalize(without(sent, ignored));
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

/**
 * Keys that clients add to the arguments of every call, and that no model can leave out. They are ignored in a tool
 * that has no such argument; any other unknown argument is an error. Each needs a source.
 */
const ADDED_BY_CLIENTS: readonly string[] = [
  'toolCallId', // n8n: n8n-io/n8n#21500, n8n-io/n8n#21716, makenotion/notion-mcp-server#146
  'sessionId', // n8n, this and the next two, of its chat trigger: n8n-io/n8n#22787
  'action',
  'chatInput',
  '_sessionID', // SiYuan: siyuan-note/siyuan#17927
  'user_context', // An agent platform: neondatabase/mcp-server-neon#353
  'wait_for_previous', // Gemini CLI: MemPalace/mempalace#322
  'tool_call_description', // Clients that describe the call: cyanheads/mcp-ts-core#453
  '_meta', // Clients that mistake the arguments for the params: cyanheads/mcp-ts-core#453
];

function without(sent: Raw, names: readonly string[]): Raw {
  if (!names.some((name) => Object.hasOwn(sent, name))) return sent;
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !names.includes(name)));
}

const SHOWN_ISSUES = 5;
const SHOWN_UNKNOWN = 5;

/** A date without a time, or a time without a zone, would be a different moment to each reader. */
const EXPECTED_TIME =
  'expected a date and a time with "Z" or an offset, as in "2026-02-10T17:00:00Z" or "2026-02-10T17:00:00+01:00".';

const LEAP_SECOND = /:60(?:\.\d+)?(?:z|[+-]\d\d:\d\d)$/i;

const EXPECTED_LEAP_SECOND = 'expected a second of at most 59: a leap second is at 23:59:60 UTC only.';

const NUMBER = 'expected a number, received text. Send a number without quotes, such as 5.';
const OBJECT =
  'expected an object, received text that is not an object in JSON. Send an object, such as {"name": "value"}.';

/** By the type that was expected and not found, not even as JSON text. */
const INSTEAD_OF_TEXT: ReadonlyMap<string, string> = new Map([
  ['array', 'expected a list, received text that is not a list in JSON. Send a list, such as ["a", "b"].'],
  ['object', OBJECT],
  ['record', OBJECT],
  ['number', NUMBER],
  ['int', NUMBER],
  ['boolean', 'expected true or false, received text. Send true or false without quotes.'],
]);

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
  const subject = field === '' ? 'The arguments' : `Argument "${field}"`;
  const message = `${subject}: ${expectationOf(issue, member, value) ?? sentence(issue.message)}`;
  const code = issue.code === 'invalid_format' ? 'INVALID_FORMAT' : 'VALIDATION_ERROR';
  const reason = issue.code.toUpperCase();
  return new MusterError(code, message, { field, reason, ...(isShowable(value) && { value }) });
}

/** Returns the words for an expectation that the schema's own words leave unclear; undefined for any other. */
function expectationOf(
  issue: z.core.$ZodIssue,
  member: z.core.$ZodType | undefined,
  value: unknown,
): string | undefined {
  const isText = typeof value === 'string';
  if (issue.code === 'invalid_format' && issue.format === 'datetime')
    return isText && LEAP_SECOND.test(value) ? EXPECTED_LEAP_SECOND : EXPECTED_TIME;
  if (issue.code !== 'invalid_type') return undefined;
  if (unwrapped(member) instanceof z.ZodISODateTime) return EXPECTED_TIME;
  return isText ? INSTEAD_OF_TEXT.get(issue.expected) : undefined;
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

/** Returns the value at a path of the raw arguments. */
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

/** Whether a value is an object as JSON has them. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
