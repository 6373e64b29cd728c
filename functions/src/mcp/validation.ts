/** Checks a call's arguments: JSON limits, nulls of omitted arguments, values sent as JSON text, and the schema. */
import { z } from 'zod';
import { fieldPath, isShowable, MusterError } from '../kernel/errors.ts';
import { beyondLimits, type JsonType, jsonTypeOf, parsedJson } from '../kernel/json.ts';
import { unwrapped } from './jsonSchema.ts';

type RawArguments = Readonly<Record<string, unknown>>;

const SHOWN_ISSUES = 5;

/**
 * Returns a function that validates the arguments of calls. Call it once per schema, because it prepares the schema.
 * @param known names to list in the error for an unknown argument; by default those of the schema
 * @returns a function that throws MusterError VALIDATION_ERROR, REQUIRED_FIELD or INVALID_FORMAT, naming the argument
 */
export function argumentsChecker<Schema extends z.ZodObject>(
  schema: Schema,
  known: readonly string[] = Object.keys(schema.shape),
): (raw: RawArguments) => z.output<Schema> {
  const root = argumentSchemaOf(schema);
  const ignored = ADDED_BY_CLIENTS.filter((name) => !known.includes(name) && !(name in schema.shape));
  return (sent) => {
    const raw = new Normalization().object(without(sent, ignored), root);
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

/** Arguments that some clients add to every call. They are ignored, unless the tool has such an argument. */
const ADDED_BY_CLIENTS: readonly string[] = [
  'toolCallId', // n8n: n8n-io/n8n#21500, n8n-io/n8n#21716, makenotion/notion-mcp-server#146
  'sessionId', // n8n's chat trigger sends this and the next two arguments: n8n-io/n8n#22787
  'action',
  'chatInput',
  '_sessionID', // SiYuan: siyuan-note/siyuan#17927
  'user_context', // An agent platform: neondatabase/mcp-server-neon#353
  'wait_for_previous', // Gemini CLI: MemPalace/mempalace#322
  'tool_call_description', // Clients that add a description of the call: cyanheads/mcp-ts-core#453
  '_meta', // Clients that put params among the arguments: cyanheads/mcp-ts-core#453
];

function without(sent: RawArguments, names: readonly string[]): RawArguments {
  if (!names.some((name) => Object.hasOwn(sent, name))) return sent;
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !names.includes(name)));
}

/** Maximum depth of arguments. Firestore allows only 20 nested maps. */
const MAX_ARGUMENT_DEPTH = 32;

/** Maximum number of values in a call's arguments, because each value takes time and memory to validate. */
const MAX_ARGUMENT_VALUES = 50_000;
const MAX_OBJECT_KEYS = 10_000;

/** Matches surrogates that are not part of a pair. Because of the flag `u`, a pair counts as one character. */
const LONE_SURROGATE = /\p{Cs}/u;

interface ArgumentPosition {
  readonly depth: number;
  readonly parent: ArgumentPosition | undefined;
  readonly key: string;
}

const WHOLE: ArgumentPosition = { depth: 0, parent: undefined, key: '' };

/** Checks an object that has no schema against the limits for arguments. @throws MusterError VALIDATION_ERROR */
export function checkJsonLimits(object: object): void {
  new Normalization().object(object, undefined);
}

/**
 * State of one normalization, which makes equivalent arguments equal. It rejects values that no schema allows and
 * Firestore cannot store: deep nesting, invalid Unicode, NUL, infinite numbers, and keys that reach an object's
 * prototype. It also limits the number of values. Recursion is safe, because the depth is limited.
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
    // Clients do not send null as text, and the text "null" may be meant as a word.
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

  object(object: object, place: ArgumentSchema | undefined, at = WHOLE): RawArguments {
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

/** A time by RFC 3339, section 5.6. It allows letters in either case, and 60 seconds for a leap second. */
const TIME = /^(\d{4}-\d\d-\d\d)t(\d\d:\d\d):(\d\d)(\.\d+)?(z|[+-]\d\d:\d\d)$/i;
const TIME_WITHOUT_LEAP = z.core.regexes.datetime({ offset: true });

/** Returns the time in upper case, as schemas require. A leap second is replaced by the next second. */
function normalTime(text: string): string {
  const [, day, minute, second, fraction = '', zone] = TIME.exec(text) ?? [];
  if (second === undefined) return text;
  const before = `${day}T${minute}:59${fraction}${zone?.toUpperCase()}`;
  if (second !== '60' || !TIME_WITHOUT_LEAP.test(before)) return text.toUpperCase();
  const time = new Date(before);
  const isLast = time.getUTCHours() === 23 && time.getUTCMinutes() === 59;
  return isLast ? new Date(time.getTime() + 1000).toISOString() : text;
}

/** Returns whether both databases can store the text and use it in queries. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text);
}

function checkText(text: string, at: ArgumentPosition, kind: 'text' | 'name'): void {
  if (text.includes('\0')) refuse(at, `contains a NUL character in its ${kind}`, 'INVALID_TEXT');
  if (LONE_SURROGATE.test(text)) refuse(at, `contains an unpaired surrogate in its ${kind}`, 'INVALID_TEXT');
}

function tooMany(at: ArgumentPosition, count: number, what: string, max: number): never {
  return refuse(at, `has ${count} ${what}; the maximum is ${max}`, 'TOO_MANY');
}

function tooDeep(at: ArgumentPosition): never {
  return refuse(at, `has more than ${MAX_ARGUMENT_DEPTH} nested levels`, 'TOO_DEEP');
}

function tooManyValues(): MusterError {
  const message = `The arguments contain more than ${MAX_ARGUMENT_VALUES} values.`;
  return new MusterError('VALIDATION_ERROR', message, {
    reason: 'TOO_MANY',
    suggestion: 'Split the call into several calls.',
  });
}

function refuse(at: ArgumentPosition, what: string, reason: string): never {
  const keys: string[] = [];
  for (let one: ArgumentPosition | undefined = at; one?.parent !== undefined; one = one.parent) keys.unshift(one.key);
  const field = fieldPath(keys);
  const subject = keys.length === 0 ? 'The arguments object' : `Argument "${field}"`;
  throw new MusterError('VALIDATION_ERROR', `${subject} ${what}.`, { field, reason });
}

/** Returns the value at a path in the arguments; undefined if there is no value. */
export function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

type IdName = `${string}_id` | `${string}_ids` | `${string}Id` | `${string}Ids`;

/** Name of an argument whose id belongs to GitHub, which validates it. */
type ForeignName = 'workflow_id';
type IsPlainText<Value> = string extends (Value extends readonly (infer Each)[] ? Each : Value) ? true : false;

/** Names of arguments that contain ids, but whose type is not from `kernel/ids.ts`. */
type PlainIds<Arguments> = {
  [Name in keyof Arguments]-?: Name extends Exclude<keyof Arguments & IdName, ForeignName>
    ? IsPlainText<NonNullable<Arguments[Name]>> extends true
      ? Name
      : never
    : never;
}[keyof Arguments];

/** Makes tools fail to compile if an argument that contains an id has a type that is not from `kernel/ids.ts`. */
export type WithBrandedIds<Input extends z.ZodObject> = [PlainIds<z.output<Input>>] extends [never]
  ? unknown
  : { readonly 'takes ids as plain text': PlainIds<z.output<Input>> };

/** Returns whether a value is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Values that a part of a schema accepts. Computed once per schema, so that calls do not have to walk the schema. */
export interface ArgumentSchema {
  /** Accepted JSON types; undefined if any JSON is accepted. */
  readonly types: ReadonlySet<JsonType> | undefined;
  readonly isOptional: boolean;
  readonly isTime?: boolean;
  /** Maximum number of elements, if this is an array. */
  readonly max?: number;
  readonly element?: ArgumentSchema;
  readonly fields?: ReadonlyMap<string, ArgumentSchema>;
  readonly entry?: ArgumentSchema;
}

/** Maximum number of elements of an array whose schema states no maximum. No tool accepts more. */
const MAX_ENTRIES = 1000;

/** Returns the properties of a schema that the normalization of arguments needs. */
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
    // A null entry is kept if the schema accepts any JSON. Otherwise a null entry counts as omitted.
    return place(['object'], { entry: { ...entry, isOptional: entry.types !== undefined } });
  }
  if (inner instanceof z.core.$ZodObject) {
    const fields = Object.entries(inner._zod.def.shape);
    return place(['object'], { fields: new Map(fields.map(([name, field]) => [name, argumentSchemaOf(field)])) });
  }
  if (inner instanceof z.core.$ZodUnion) return place(typesOfAny(inner._zod.def.options));
  return place(undefined);
}

/** Returns the types that at least one of the schemas accepts. Parts of values of these types are not normalized. */
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

// Errors about invalid arguments, in words that help a model to correct them.

const SHOWN_UNKNOWN = 5;

/** A time must have a time zone, because each reader would assume a different one. */
const EXPECTED_TIME =
  'expected a date and a time with "Z" or an offset, as in "2026-02-10T17:00:00Z" or "2026-02-10T17:00:00+01:00".';

const LEAP_SECOND = /:60(?:\.\d+)?(?:z|[+-]\d\d:\d\d)$/i;
const EXPECTED_LEAP_SECOND = 'expected seconds up to 59: a leap second can only be at 23:59:60 UTC.';
const NUMBER = 'expected a number, received text. Send a number without quotes, such as 5.';
const OBJECT =
  'expected an object, received text that is not a JSON object. Send an object, such as {"name": "value"}.';

/** Messages by expected type, for a text that is not JSON of that type. */
const TEXT_EXPECTED: ReadonlyMap<string, string> = new Map([
  ['array', 'expected a list, received text that is not a JSON list. Send a list, such as ["a", "b"].'],
  ['object', OBJECT],
  ['record', OBJECT],
  ['number', NUMBER],
  ['int', NUMBER],
  ['boolean', 'expected true or false, received text. Send true or false without quotes.'],
]);

/** Returns the error for an issue. `value` is at the issue's path; `known` is listed if an argument is unknown. */
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

/** Returns a clearer text than the schema's message; undefined if the message is clear. */
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
  const where = path.length === 0 ? 'Known arguments' : `Known fields of "${fieldPath(path)}"`;
  const quoted = keys.slice(0, SHOWN_UNKNOWN).map((key) => `"${fieldPath([...path, key])}"`);
  const more = keys.length > SHOWN_UNKNOWN ? ` and ${keys.length - SHOWN_UNKNOWN} more` : '';
  const unknown = `Unknown argument${keys.length > 1 ? 's' : ''} ${quoted.join(', ')}${more}`;
  const field = fieldPath([...path, keys[0] ?? '']);
  return new MusterError('VALIDATION_ERROR', `${unknown}. ${where}: ${names}.`, { field, reason: 'UNKNOWN_ARGUMENT' });
}

/** Returns the schema at a path, including wrappers such as optional. */
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
