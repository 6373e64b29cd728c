/** Turns a tool's zod schemas into the JSON Schema that clients are shown. */

import { z } from 'zod';
import { type JsonObject, type JsonValue, jsonObject } from '../kernel/json.ts';

/** Returns a schema that accepts what `accepted` does, and is listed as `listed`. */
export function listedAs<Accepted extends z.ZodType>(listed: JsonObject, accepted: Accepted) {
  return z
    .unknown()
    .meta({ ...listed })
    .pipe(accepted);
}

/** How an object with any fields is listed. */
export const OPEN_OBJECT = { type: 'object', additionalProperties: true };

/** Accepts any JSON. OpenAI's strict mode refuses what lists no type, and an object is what is sent most. */
export const anyJson = listedAs(OPEN_OBJECT, z.unknown());

/** The schema of what a caller may send: what has a default is optional. */
export const inputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'input');

/** The schema of what a tool answers. */
export const outputJsonSchema = (schema: z.ZodObject): JsonObject => convert(schema, 'output');

/** The schema of an answer or a refusal. It requires what both have: converters fail at alternatives of `required`. */
export function answerOrRefusalSchema(answer: z.ZodObject, refusal: z.ZodObject): JsonObject {
  const { required, properties, ...rest } = outputJsonSchema(answer);
  const other = outputJsonSchema(refusal);
  const either = { ...jsonObject.parse(properties), ...jsonObject.parse(other['properties']) };
  const refused = [other['required']].flat();
  return {
    ...rest,
    properties: either,
    required: [required ?? []].flat().filter((name) => refused.includes(name)),
  };
}

/** JSON Schema 2020-12 without `$schema`, which older clients refuse; what is used means the same in draft 7. */
function convert(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return jsonObject.parse(JSON.parse(JSON.stringify(converted), withoutTypeList));
}

/** Replaces a list of types, which several vendors and frameworks refuse, by alternatives. */
function withoutTypeList(_key: string, value: unknown): unknown {
  const { data: { type, ...rest } = {} } = jsonObject.safeParse(value);
  return Array.isArray(type) ? { ...rest, anyOf: type.map((one) => ({ type: one })) } : value;
}

/** What is told once in the server's instructions, and not with every tool that takes it. */
const TOLD_ONCE: readonly string[] = ['idempotency_key'];

/** What a description of so many words says, the argument's name says already. */
const WORDS_OF_A_NAME = 3;

/** Bounds that hardly anybody exceeds, and what would only say that there are no others. */
const LEFT_OUT: readonly string[] = [
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

/** The light list's schema: it accepts all that the whole one does, without what is told once and what is rare. */
export function lightSchema(schema: JsonObject, rare: readonly string[] = []): JsonObject {
  const { properties, ...rest } = schema;
  const parts = Object.keys(rest).map((keyword) => [keyword, lightPart(keyword, schema)] as const);
  const light = Object.fromEntries(parts.filter(([, part]) => part !== undefined));
  return properties === undefined
    ? light
    : { ...light, properties: lightProperties(jsonObject.parse(properties), rare) };
}

/** Returns what the light list shows of a keyword's value; undefined if it leaves the keyword out. */
function lightPart(keyword: string, schema: JsonObject): JsonValue | undefined {
  const value = schema[keyword];
  if (LEFT_OUT.includes(keyword)) return undefined;
  if (keyword === 'description') {
    return String(value).trim().split(/\s+/).length > WORDS_OF_A_NAME ? value : undefined;
  }
  if (keyword === 'anyOf') {
    // Beside a type the alternatives add nothing.
    return schema['type'] === undefined ? jsonObjects.parse(value).map((one) => lightSchema(one)) : undefined;
  }
  if (keyword !== 'items' && keyword !== 'additionalProperties') return value;
  const { success, data } = jsonObject.safeParse(value);
  if (success) return lightSchema(data);
  // Strict clients must read that a tool takes nothing; that another object is closed, its error says.
  return value === false && Object.keys(schema['properties'] ?? {}).length > 0 ? undefined : value;
}

const jsonObjects = z.array(jsonObject);

function lightProperties(properties: JsonObject, rare: readonly string[]): JsonObject {
  const left = [...TOLD_ONCE, ...rare];
  const listed = Object.entries(properties).filter(([name]) => !left.includes(name));
  return Object.fromEntries(listed.map(([name, value]) => [name, lightSchema(jsonObject.parse(value))]));
}

/**
 * Leaves out what zod adds by itself: the bounds of a safe integer, the pattern behind a format, and that names
 * are strings. Says in the way that all clients read that an object is open.
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

/** Whether a schema of names has them be more than strings. */
function restricts(names: z.core.JSONSchema.BaseSchema): boolean {
  return Object.keys(names).some((keyword) => keyword !== 'type');
}

/** Returns the schema within what only says that a value may be absent, or how it is listed. */
export function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodPipe) inner = inner.out;
    else if (
      inner instanceof z.ZodOptional ||
      inner instanceof z.ZodNullable ||
      inner instanceof z.ZodDefault
    ) {
      inner = inner.unwrap();
    } else return inner;
  }
}
