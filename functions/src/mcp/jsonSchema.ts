/** Converts zod schemas of tools to the JSON Schema that clients get. */

import { z } from 'zod';
import { type JsonObject, type JsonValue, jsonObject } from '../kernel/json.ts';

/** Returns a schema that accepts the same as `accepted` and is listed as `listed`. */
export function listedAs<Accepted extends z.ZodType>(listed: JsonObject, accepted: Accepted) {
  return z
    .unknown()
    .meta({ ...listed })
    .pipe(accepted);
}

/** Listed schema of an object with any fields. */
export const OPEN_OBJECT = { type: 'object', additionalProperties: true };

/** Accepts any JSON. It is listed as an object, because OpenAI's strict mode requires a type. */
export const anyJson = listedAs(OPEN_OBJECT, z.unknown());

/** Returns the schema of a tool's arguments. Arguments with a default are optional. */
export const inputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'input');

/** Returns the schema of a tool's response. */
export const outputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'output');

/** Returns a schema for responses and errors. Only common fields are required: converters reject alternatives. */
export function responseOrErrorSchema(response: z.ZodObject, error: z.ZodObject): JsonObject {
  const { required, properties, ...rest } = outputJsonSchema(response);
  const other = outputJsonSchema(error);
  const either = { ...jsonObject.parse(properties), ...jsonObject.parse(other['properties']) };
  const refused = [other['required']].flat();
  return { ...rest, properties: either, required: [required ?? []].flat().filter((name) => refused.includes(name)) };
}

/** Converts to JSON Schema 2020-12 without `$schema`, which older clients reject. The keywords also suit draft 7. */
function convert(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return jsonObject.parse(JSON.parse(JSON.stringify(converted), withoutTypeList));
}

/** Replaces lists of types, which several vendors and frameworks reject, by alternatives. */
function withoutTypeList(_key: string, value: unknown): unknown {
  const { data: { type, ...rest } = {} } = jsonObject.safeParse(value);
  return Array.isArray(type) ? { ...rest, anyOf: type.map((one) => ({ type: one })) } : value;
}

/** Arguments that the server instructions explain once for all tools. */
const DESCRIBED_ONCE: readonly string[] = ['idempotency_key', 'limit', 'part_of'];

/** Descriptions of up to this many words add nothing to the argument's name. */
const NAME_WORDS = 3;

/** Keywords that the light list omits, because callers rarely exceed these bounds. */
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

/** Returns the light list's schema, which accepts at least the same. Omits rare and commonly explained arguments. */
export function compactSchema(schema: JsonObject, rare: readonly string[] = []): JsonObject {
  const { properties, ...rest } = schema;
  const parts = Object.keys(rest).map((keyword) => [keyword, compactPart(keyword, schema, rare)] as const);
  const light = Object.fromEntries(parts.filter(([, part]) => part !== undefined));
  return properties === undefined
    ? light
    : { ...light, properties: compactProperties(jsonObject.parse(properties), rare) };
}

/** Returns the light list's value of a keyword; undefined to omit the keyword. */
function compactPart(keyword: string, schema: JsonObject, rare: readonly string[]): JsonValue | undefined {
  const value = schema[keyword];
  if (OMITTED_KEYWORDS.includes(keyword)) return undefined;
  if (keyword === 'default' && value === false) return undefined; // callers expect it
  if (keyword === 'description') {
    return String(value).trim().split(/\s+/).length > NAME_WORDS ? value : undefined;
  }
  if (keyword === 'anyOf') {
    // Alternatives add nothing to a type.
    return schema['type'] === undefined ? jsonObjects.parse(value).map((one) => compactSchema(one, rare)) : undefined;
  }
  if (keyword !== 'items' && keyword !== 'additionalProperties') return value;
  const { success, data } = jsonObject.safeParse(value);
  if (success) return compactSchema(data, rare);
  // Strict clients need this for tools without arguments. For other objects, the error message is enough.
  return value === false && Object.keys(schema['properties'] ?? {}).length > 0 ? undefined : value;
}

const jsonObjects = z.array(jsonObject);

function compactProperties(properties: JsonObject, rare: readonly string[]): JsonObject {
  const left = [...DESCRIBED_ONCE, ...rare];
  const listed = Object.entries(properties).filter(([name]) => !left.includes(name));
  return Object.fromEntries(listed.map(([name, value]) => [name, compactSchema(jsonObject.parse(value), rare)]));
}

/**
 * Removes what zod adds on its own: bounds of safe integers, patterns of formats, and the string type of names. Marks
 * open objects with `additionalProperties: true`, which all clients understand.
 */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  const { additionalProperties: others } = schema;
  if (typeof others === 'object' && Object.keys(others).length === 0) schema.additionalProperties = true;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
  const { propertyNames } = schema;
  if (typeof propertyNames === 'object' && !restricts(propertyNames)) delete schema.propertyNames;
}

/** Returns whether a schema of property names restricts them further than to strings. */
function restricts(names: z.core.JSONSchema.BaseSchema): boolean {
  return Object.keys(names).some((keyword) => keyword !== 'type');
}

/** Returns the schema without wrappers for optional, nullable, default and listed values. */
export function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodPipe) inner = inner.out;
    else if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
      inner = inner.unwrap();
    } else return inner;
  }
}
