/** Says what is wrong with an argument, in words that a model can act on. */
import { z } from 'zod';
import { MusterError } from '../kernel/errors.ts';
import { unwrapped } from './jsonSchema.ts';
import { fieldPath, isShowable } from './shown.ts';

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

/**
 * Describes an issue of a schema.
 * @param value what was sent at its path
 * @param known the names to list if an argument is unknown
 */
export function describe(
  issue: z.core.$ZodIssue,
  schema: z.ZodObject,
  value: unknown,
  known: readonly string[],
): MusterError {
  if (issue.code === 'unrecognized_keys') return describeUnknown(issue.keys, issue.path, schema, known);
  const field = fieldPath(issue.path);
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

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
