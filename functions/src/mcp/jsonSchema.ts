/** Converts zod schemas of tools to the JSON Schema that clients get. */
import { z } from 'zod';
import { type JsonObject, type JsonValue, jsonObject } from '../kernel/json.ts';

/** Returns the schema `accepted`, which tool lists show as `listed`. */
export function listedAs<Accepted extends z.ZodType>(listed: JsonObject, accepted: Accepted) {
  return z
    .unknown()
    .meta({ ...listed })
    .pipe(accepted);
}

export const OPEN_OBJECT = { type: 'object', additionalProperties: true };

/** Accepts any JSON. Tool lists show it as an object, because OpenAI's strict mode requires a type. */
export const anyJson = listedAs(OPEN_OBJECT, z.unknown());

/** Returns the JSON Schema of a tool's arguments, in which arguments with a default are optional. */
export const inputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'input');

/** Returns the JSON Schema of a tool's response. */
export const outputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'output');

/** Returns a schema for responses and errors. It requires only common fields. Clients would reject `anyOf`. */
export function responseOrErrorSchema(response: z.ZodObject, error: z.ZodObject): JsonObject {
  const { required, properties, ...rest } = outputJsonSchema(response);
  const other = outputJsonSchema(error);
  const either = { ...jsonObject.parse(properties), ...jsonObject.parse(other['properties']) };
  const refused = [other['required']].flat();
  return { ...rest, properties: either, required: [required ?? []].flat().filter((name) => refused.includes(name)) };
}

/** Converts to JSON Schema 2020-12, with keywords that draft 7 also has. Older clients reject `$schema`. */
function convert(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return jsonObject.parse(JSON.parse(JSON.stringify(converted), withoutTypeList));
}

/** Replaces a list of types by alternatives, because several vendors and frameworks reject such lists. */
function withoutTypeList(_key: string, value: unknown): unknown {
  const { data: { type, ...rest } = {} } = jsonObject.safeParse(value);
  return Array.isArray(type) ? { ...rest, anyOf: type.map((one) => ({ type: one })) } : value;
}

/** Arguments that the server instructions explain for all tools, and that the short tool list omits. */
const DESCRIBED_ONCE: readonly string[] = ['idempotency_key', 'limit', 'part_of', 'workspace'];

/** The short tool list omits descriptions of up to this many words. */
const NAME_WORDS = 3;

/** Keywords that the short tool list omits, because callers rarely exceed these limits. */
const OMITTED_KEYWORDS: readonly string[] = [
  'exclusiveMinimum',
  'maximum',
  'maxItems',
  'maxLength',
  'minItems',
  'minLength',
  'minimum',
  'pattern',
  'propertyNames',
];

/** Returns a shorter schema that accepts the same or more. Omits arguments that are rare or explained elsewhere. */
export function compactSchema(schema: JsonObject, rare: readonly string[] = []): JsonObject {
  const { properties, ...rest } = schema;
  const parts = Object.keys(rest).map((keyword) => [keyword, compactPart(keyword, schema, rare)] as const);
  const light = Object.fromEntries(parts.filter(([, part]) => part !== undefined));
  return properties === undefined
    ? light
    : { ...light, properties: compactProperties(jsonObject.parse(properties), rare) };
}

/** Returns the value of a keyword in the short tool list; undefined if the list omits the keyword. */
function compactPart(keyword: string, schema: JsonObject, rare: readonly string[]): JsonValue | undefined {
  const value = schema[keyword];
  if (OMITTED_KEYWORDS.includes(keyword)) return undefined;
  if (keyword === 'default' && value === false) return undefined; // Without a stated default, callers assume false.
  if (keyword === 'description') return String(value).trim().split(/\s+/).length > NAME_WORDS ? value : undefined;
  if (keyword === 'anyOf') {
    // If a schema has a type, its alternatives only narrow this type.
    return schema['type'] === undefined ? jsonObjects.parse(value).map((one) => compactSchema(one, rare)) : undefined;
  }
  if (keyword !== 'items' && keyword !== 'additionalProperties') return value;
  const { success, data } = jsonObject.safeParse(value);
  if (success) return compactSchema(data, rare);
  // Strict clients require `additionalProperties: false` for a tool without arguments. Other tools omit it.
  return value === false && Object.keys(schema['properties'] ?? {}).length > 0 ? undefined : value;
}

const jsonObjects = z.array(jsonObject);

function compactProperties(properties: JsonObject, rare: readonly string[]): JsonObject {
  const left = [...DESCRIBED_ONCE, ...rare];
  const listed = Object.entries(properties).filter(([name]) => !left.includes(name));
  // Strict clients send no argument to a tool that lists none.
  if (listed.length === 0 && 'workspace' in properties) return { workspace: { type: 'string' } };
  return Object.fromEntries(listed.map(([name, value]) => [name, compactSchema(jsonObject.parse(value), rare)]));
}

/**
 * Removes what zod adds: limits of safe integers, patterns of formats, and the type of property names. Sets
 * `additionalProperties: true` on objects that may have any fields, because all clients understand it.
 */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  const { additionalProperties: others } = schema;
  if (typeof others === 'object' && Object.keys(others).length === 0) schema.additionalProperties = true;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
  const { propertyNames } = schema;
  if (typeof propertyNames === 'object' && Object.keys(propertyNames).every((keyword) => keyword === 'type'))
    delete schema.propertyNames;
}

/** Returns the inner schema of an optional, nullable, default or separately listed schema. */
export function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodPipe) inner = inner.out;
    else if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
      inner = inner.unwrap();
    } else return inner;
  }
}
