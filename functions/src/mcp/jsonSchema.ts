/** Turns a tool's zod schemas into the JSON Schema that clients are shown. */

import { z } from 'zod';
import { type JsonObject, type JsonValue, jsonObject } from '../kernel/json.ts';

/** Marks a schema that is listed without the null that it takes. */
export const CLEARABLE = 'clearable';

/** The schema of what a caller may send: what has a default is optional. */
export const inputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'input');

/** The schema of what a tool answers. */
export const outputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'output');

/** The schema of what a tool answers or, in its place, of how it refuses. */
export function answerOrRefusalSchema(answer: z.ZodObject, refusal: z.ZodObject): JsonObject {
  const { required = [], properties, ...rest } = outputJsonSchema(answer);
  const other = outputJsonSchema(refusal);
  const either = { ...jsonObject.parse(properties), ...jsonObject.parse(other['properties']) };
  return { ...rest, properties: either, anyOf: [{ required }, { required: other['required'] }] };
}

/**
 * JSON Schema 2020-12, MCP's dialect, but without naming it: clients of the older kind compile schemas for
 * draft 7 and refuse a `$schema` they do not know, and what is used here means the same in both.
 */
function convert(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return jsonObject.parse(converted);
}

/** What is told once in the server's instructions, and not with every tool that takes it. */
const TOLD_ONCE: readonly string[] = ['idempotency_key'];

/** What a description of so many words says, the argument's name says already. */
const WORDS_OF_A_NAME = 3;

/** Bounds that hardly anybody exceeds, and what would only say that there are no others. */
const LEFT_OUT: readonly string[] = [
  '$defs',
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

/**
 * A schema of arguments as the light list shows it: it takes all that the whole one takes, and has its types,
 * enums, formats, defaults, what is required, and the names but for what is told once and for what is rare.
 */
export function lightSchema(schema: JsonObject, rare: readonly string[] = []): JsonObject {
  if ('$ref' in schema) return {};
  const { properties, ...rest } = schema;
  const parts = Object.entries(rest).map(([keyword, value]) => [keyword, lightPart(keyword, value)] as const);
  const light = Object.fromEntries(parts.filter(([, part]) => part !== undefined));
  return properties === undefined
    ? light
    : { ...light, properties: lightProperties(jsonObject.parse(properties), rare) };
}

/** What the light list shows of a keyword's value; undefined where it leaves the keyword out. */
function lightPart(keyword: string, value: JsonValue | undefined): JsonValue | undefined {
  if (LEFT_OUT.includes(keyword)) return undefined;
  if (keyword === 'description') {
    return String(value).trim().split(/\s+/).length > WORDS_OF_A_NAME ? value : undefined;
  }
  if (keyword === 'anyOf' && Array.isArray(value)) {
    return value.map((one) => lightSchema(jsonObject.parse(one)));
  }
  if (keyword !== 'items' && keyword !== 'additionalProperties') return value;
  const { success, data } = jsonObject.safeParse(value);
  if (!success) return keyword === 'items' ? value : undefined;
  const light = lightSchema(data);
  return keyword === 'items' || Object.keys(light).length > 0 ? light : undefined;
}

function lightProperties(properties: JsonObject, rare: readonly string[]): JsonObject {
  const left = [...TOLD_ONCE, ...rare];
  const listed = Object.entries(properties).filter(([name]) => !left.includes(name));
  return Object.fromEntries(listed.map(([name, value]) => [name, lightSchema(jsonObject.parse(value))]));
}

/**
 * Leaves out what zod adds by itself: the bounds of a safe integer, the pattern behind a format, and that names
 * are strings.
 */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema[CLEARABLE] === true) {
    const [value] = schema.anyOf ?? [];
    delete schema[CLEARABLE];
    delete schema.anyOf;
    Object.assign(schema, value, schema);
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
  const { propertyNames } = schema;
  if (typeof propertyNames === 'object' && !restricts(propertyNames)) delete schema.propertyNames;
}

/** Whether a schema of names has them be more than strings. */
function restricts(names: z.core.JSONSchema.BaseSchema): boolean {
  return Object.keys(names).some((keyword) => keyword !== 'type');
}

/** The schema within what only says that a value may be absent. */
export function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
    inner = inner.unwrap();
  }
  return inner;
}
