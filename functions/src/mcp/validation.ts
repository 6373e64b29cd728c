/** Normalizes and validates raw arguments: JSON limits, optional nulls, values sent as JSON text. */

import { z } from 'zod';
import { fieldPath, isShowable, MusterError } from '../kernel/errors.ts';
import { beyondLimits, type JsonType, jsonTypeOf, parsedJson } from '../kernel/json.ts';
import { unwrapped } from './jsonSchema.ts';

type RawArguments = Readonly<Record<string, unknown>>;

const SHOWN_ISSUES = 5;

/**
 * Returns a function that validates a call's arguments. Prepared once per schema.
 * @param known the names to list for an unknown argument; by default those of the schema
 * @returns a function that throws MusterError VALIDATION_ERROR, REQUIRED_FIELD or INVALID_FORMAT, naming the argument
 */
export function argumentsChecker<Schema extends z.ZodObject>(
  schema: Schema,
  known: readonly string[] = Object.keys(schema.shape),
): (raw: RawArguments) => z.output<Schema> {
  const normalize = normalizer(schema);
  const ignored = ADDED_BY_CLIENTS.filter((name) => !known.includes(name) && !(name in schema.shape));
  return (sent) => {
    const raw = normalize(without(sent, ignored));
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const { issues } = parsed.error;
    const shown = issues
      .slice(0, SHOWN_ISSUES)
      .map((issue) => describe(issue, schema, valueAt(raw, issue.path), known));
    const messages = shown.map(({ message }) => message);
    if (issues.length > shown.length) messages.push(`And ${issues.length - shown.length} more.`);
    const [first] = shown;
    throw new MusterError(first?.code ?? 'VALIDATION_ERROR', messages.join(' '), first?.details);
  };
}

/** Keys that clients add to every call and that models cannot omit. Ignored if unknown. Each needs a source. */
const ADDED_BY_CLIENTS: readonly string[] = [
  'toolCallId', // n8n: n8n-io/n8n#21500, n8n-io/n8n#21716, makenotion/notion-mcp-server#146
  'sessionId', // n8n's chat trigger, with the next two: n8n-io/n8n#22787
  'action',
  'chatInput',
  '_sessionID', // SiYuan: siyuan-note/siyuan#17927
  'user_context', // An agent platform: neondatabase/mcp-server-neon#353
  'wait_for_previous', // Gemini CLI: MemPalace/mempalace#322
  'tool_call_description', // Clients that describe the call: cyanheads/mcp-ts-core#453
  '_meta', // Clients that mistake the arguments for the params: cyanheads/mcp-ts-core#453
];

function without(sent: RawArguments, names: readonly string[]): RawArguments {
  if (!names.some((name) => Object.hasOwn(sent, name))) return sent;
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !names.includes(name)));
}

/** Maximum depth of arguments. Firestore allows 20 nested maps. */
const MAX_ARGUMENT_DEPTH = 32;

/** Maximum number of values in a call's arguments. Validation costs time and memory per value. */
const MAX_ARGUMENT_VALUES = 50_000;

/** Maximum number of names in one object. */
const MAX_OBJECT_KEYS = 10_000;

/** Matches unpaired surrogates: with the flag `u`, pairs count as one character. */
const LONE_SURROGATE = /\p{Cs}/u;

/** Position of a value in the arguments. */
interface ArgumentPosition {
  readonly depth: number;
  readonly parent: ArgumentPosition | undefined;
  readonly key: string;
}

/**
 * Returns a function that normalizes a call's arguments. Prepared once per schema. Calls with the same meaning have
 * equal normal forms.
 * @returns a function that throws MusterError VALIDATION_ERROR if the arguments exceed a JSON limit
 */
export function normalizer(schema: z.ZodObject): (raw: RawArguments) => RawArguments {
  const root = argumentSchemaOf(schema);
  return (raw) => new Normalization().object(raw, root, { depth: 0, parent: undefined, key: '' });
}

/** Applies the argument limits to an object without a schema. @throws MusterError VALIDATION_ERROR */
export function checkJsonLimits(object: object): void {
  new Normalization().object(object, undefined, { depth: 0, parent: undefined, key: '' });
}

/**
 * One walk over a call's arguments. It refuses values that no schema uses and Firestore cannot store: deep nesting,
 * invalid Unicode, NUL, infinite numbers, and keys that reach an object's prototype. It also limits the number of
 * values to validate. Recursion is safe because the depth is limited.
 */
class Normalization {
  private values = 0;

  private value(value: unknown, place: ArgumentSchema | undefined, at: ArgumentPosition): unknown {
    if (typeof value === 'string') return this.text(value, place, at);
    if (typeof value === 'number' && !Number.isFinite(value))
      return refuse(at, 'is a number out of range', 'OUT_OF_RANGE');
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? this.array(value, place, at) : this.object(value, place, at);
  }

  private text(text: string, place: ArgumentSchema | undefined, at: ArgumentPosition): unknown {
    checkText(text, at, 'text');
    if (place?.isTime) return normalTime(text);
    if (place?.types === undefined || place.types.has('string')) return text;
    const limits = { depth: MAX_ARGUMENT_DEPTH - at.depth, values: MAX_ARGUMENT_VALUES - this.values };
    const excess = beyondLimits(Buffer.from(text), limits);
    if (excess === 'depth') return tooDeep(at);
    if (excess === 'values') throw tooManyValues();
    const meant = parsedJson(text);
    // Clients do not wrap null, and the text "null" may be a word.
    if (meant === undefined || meant === null || !place.types.has(jsonTypeOf(meant))) return text;
    return this.value(meant, place, at);
  }

  private array(
    array: readonly unknown[],
    place: ArgumentSchema | undefined,
    at: ArgumentPosition,
  ): readonly unknown[] {
    if (place?.max !== undefined && array.length > place.max) tooMany(at, array.length, 'entries', place.max);
    this.enter(array.length, at);
    return array.map((value, index) => this.value(value, place?.element, childPosition(at, String(index))));
  }

  object(object: object, place: ArgumentSchema | undefined, at: ArgumentPosition): RawArguments {
    const given: [string, unknown][] = Object.entries(object);
    if (given.length > MAX_OBJECT_KEYS) tooMany(at, given.length, 'names', MAX_OBJECT_KEYS);
    this.enter(given.length, at);
    const members: [string, unknown][] = [];
    for (const [name, value] of given) {
      const member = childPosition(at, name);
      if (name === '__proto__') refuse(member, 'is not allowed as a field name', 'INVALID_NAME');
      checkText(name, member, 'name');
      const own = place?.fields?.get(name) ?? place?.entry;
      if (value !== null || !own?.isOptional) members.push([name, this.value(value, own, member)]);
    }
    return Object.fromEntries(members);
  }

  private enter(count: number, at: ArgumentPosition): void {
    this.values += count;
    if (this.values > MAX_ARGUMENT_VALUES) throw tooManyValues();
    if (at.depth >= MAX_ARGUMENT_DEPTH) tooDeep(at);
  }
}

function childPosition(parent: ArgumentPosition, key: string): ArgumentPosition {
  return { depth: parent.depth + 1, parent, key };
}

/** RFC 3339 time, section 5.6: letters in either case, and seconds up to 60. */
const TIME = /^(\d{4}-\d\d-\d\d)t(\d\d:\d\d):(\d\d)(\.\d+)?(z|[+-]\d\d:\d\d)$/i;

const TIME_WITHOUT_LEAP = z.core.regexes.datetime({ offset: true });

/** Returns the time in upper case, as the schemas require it. A leap second becomes the next second. */
function normalTime(text: string): string {
  const [, day, minute, second, fraction = '', zone] = TIME.exec(text) ?? [];
  if (second === undefined) return text;
  const before = `${day}T${minute}:59${fraction}${zone?.toUpperCase()}`;
  if (second !== '60' || !TIME_WITHOUT_LEAP.test(before)) return text.toUpperCase();
  const time = new Date(before);
  const isLast = time.getUTCHours() === 23 && time.getUTCMinutes() === 59;
  return isLast ? new Date(time.getTime() + 1000).toISOString() : text;
}

/** Returns whether both databases can store and query a text. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text);
}

function checkText(text: string, at: ArgumentPosition, kind: 'text' | 'name'): void {
  if (text.includes('\0')) refuse(at, `contains a NUL character in its ${kind}`, 'INVALID_TEXT');
  if (LONE_SURROGATE.test(text)) refuse(at, `contains an unpaired surrogate in its ${kind}`, 'INVALID_TEXT');
}

function tooMany(at: ArgumentPosition, count: number, what: string, most: number): never {
  return refuse(at, `has ${count} ${what}; the maximum is ${most}`, 'TOO_MANY');
}

function tooDeep(at: ArgumentPosition): never {
  return refuse(at, `nests more than ${MAX_ARGUMENT_DEPTH} levels deep`, 'TOO_DEEP');
}

function tooManyValues(): MusterError {
  const message = `The arguments contain more than ${MAX_ARGUMENT_VALUES} values.`;
  return new MusterError('VALIDATION_ERROR', message, {
    reason: 'TOO_MANY',
    suggestion: 'Split the call into several.',
  });
}

function refuse(at: ArgumentPosition, what: string, reason: string): never {
  const keys: string[] = [];
  for (let one: ArgumentPosition | undefined = at; one?.parent !== undefined; one = one.parent) keys.unshift(one.key);
  const field = fieldPath(keys);
  const subject = keys.length === 0 ? 'The arguments object' : `Argument "${field}"`;
  throw new MusterError('VALIDATION_ERROR', `${subject} ${what}.`, { field, reason });
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

/** Names of arguments that are ids. */
type IdName = `${string}_id` | `${string}_ids` | `${string}Id` | `${string}Ids`;

/** A GitHub id, which GitHub validates. */
type ForeignName = 'workflow_id';

type IsPlainText<Value> = string extends (Value extends readonly (infer Each)[] ? Each : Value) ? true : false;

/** Arguments named as ids whose type `kernel/ids.ts` did not create. */
type PlainIds<Arguments> = {
  [Name in keyof Arguments]-?: Name extends Exclude<keyof Arguments & IdName, ForeignName>
    ? IsPlainText<NonNullable<Arguments[Name]>> extends true
      ? Name
      : never
    : never;
}[keyof Arguments];

/** Requires ids from `kernel/ids.ts` for arguments named as ids: other tools do not compile. */
export type WithBrandedIds<Input extends z.ZodObject> = [PlainIds<z.output<Input>>] extends [never]
  ? unknown
  : { readonly 'takes ids as plain text': PlainIds<z.output<Input>> };

/** Returns whether a value is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Accepted values at one place of a schema. Computed once per schema, so that calls do not walk the schema. */
export interface ArgumentSchema {
  /** Accepted types; undefined for any JSON. */
  readonly types: ReadonlySet<JsonType> | undefined;
  readonly isOptional: boolean;
  readonly isTime?: boolean;
  /** Maximum length of an array. */
  readonly max?: number;
  readonly element?: ArgumentSchema;
  readonly fields?: ReadonlyMap<string, ArgumentSchema>;
  /** Each value of a record. */
  readonly entry?: ArgumentSchema;
}

/** Default maximum length of an array whose schema has none. No tool accepts more. */
const MAX_ENTRIES = 1000;

/** Returns the plan by which arguments of a schema are normalized. */
export function argumentSchemaOf(schema: z.core.$ZodType): ArgumentSchema {
  const isOptional = schema._zod.optin !== undefined;
  const inner = unwrapped(schema);
  const place = (types: Iterable<JsonType> | undefined, rest: Partial<ArgumentSchema> = {}): ArgumentSchema => ({
    types: types && new Set(types),
    isOptional,
    ...rest,
  });
  if (inner instanceof z.core.$ZodISODateTime) return place(['string'], { isTime: true });
  if (inner instanceof z.core.$ZodString) return place(['string']);
  if (inner instanceof z.core.$ZodNumber) return place(['number']);
  if (inner instanceof z.core.$ZodBoolean) return place(['boolean']);
  if (inner instanceof z.core.$ZodNull) return place(['null']);
  if (inner instanceof z.core.$ZodEnum || inner instanceof z.core.$ZodLiteral)
    return place([...inner._zod.values].map(jsonTypeOf));
  if (inner instanceof z.core.$ZodArray)
    return place(['array'], { max: listedMaximum(inner), element: argumentSchemaOf(inner._zod.def.element) });
  if (inner instanceof z.core.$ZodRecord) {
    const entry = argumentSchemaOf(inner._zod.def.valueType);
    // Record entries are optional, but a null in free-form data is data.
    return place(['object'], { entry: { ...entry, isOptional: entry.types !== undefined } });
  }
  if (inner instanceof z.core.$ZodObject) {
    const fields = Object.entries(inner._zod.def.shape);
    return place(['object'], { fields: new Map(fields.map(([name, field]) => [name, argumentSchemaOf(field)])) });
  }
  if (inner instanceof z.core.$ZodUnion) return place(typesOfAny(inner._zod.def.options));
  return place(undefined);
}

/** Returns the types that any of the schemas accepts. Values within them are not normalized. */
function typesOfAny(schemas: readonly z.core.$ZodType[]): Iterable<JsonType> | undefined {
  const types = schemas.map((schema) => argumentSchemaOf(schema).types);
  return types.includes(undefined) ? undefined : types.flatMap((some = new Set()) => [...some]);
}

function listedMaximum(schema: z.core.$ZodArray): number {
  const maxima = (schema._zod.def.checks ?? []).flatMap((check) =>
    check instanceof z.core.$ZodCheckMaxLength ? [check._zod.def.maximum] : [],
  );
  return Math.min(MAX_ENTRIES, ...maxima);
}

// Messages about invalid arguments, worded so that a model can correct them.

const SHOWN_UNKNOWN = 5;

/** Without a time zone, each reader would assume a different moment. */
const EXPECTED_TIME =
  'expected a date and a time with "Z" or an offset, as in "2026-02-10T17:00:00Z" or "2026-02-10T17:00:00+01:00".';

const LEAP_SECOND = /:60(?:\.\d+)?(?:z|[+-]\d\d:\d\d)$/i;

const EXPECTED_LEAP_SECOND = 'expected seconds up to 59: a leap second can only be at 23:59:60 UTC.';

const NUMBER = 'expected a number, received text. Send a number without quotes, such as 5.';
const OBJECT =
  'expected an object, received text that is not an object in JSON. Send an object, such as {"name": "value"}.';

/** Messages for a text that is not the expected type, even parsed as JSON, by that type. */
const TEXT_EXPECTED: ReadonlyMap<string, string> = new Map([
  ['array', 'expected a list, received text that is not a list in JSON. Send a list, such as ["a", "b"].'],
  ['object', OBJECT],
  ['record', OBJECT],
  ['number', NUMBER],
  ['int', NUMBER],
  ['boolean', 'expected true or false, received text. Send true or false without quotes.'],
]);

/** Describes an issue. `value` was sent at its path; `known` are the names to list for an unknown argument. */
function describe(issue: z.core.$ZodIssue, schema: z.ZodObject, value: unknown, known: readonly string[]): MusterError {
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

/** Returns a clearer expectation than the schema's message; undefined if that is clear. */
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
  return isText ? TEXT_EXPECTED.get(issue.expected) : undefined;
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
  return new MusterError('VALIDATION_ERROR', `${unknown}. ${where}: ${names}.`, { field, reason: 'UNKNOWN_ARGUMENT' });
}

/** Returns the schema at a path, with its wrappers. */
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
