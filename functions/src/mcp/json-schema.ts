/** Turns a tool's zod schemas into the JSON Schema that clients are shown. */
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { jsonObject } from '../domain/json.ts';

/** Marks a schema that is listed without the null that it takes. */
export const CLEARABLE = 'clearable';

/** The schema of what a caller may send: what has a default is optional. */
export function inputJsonSchema(schema: z.ZodObject): JsonObject {
  return convert(schema, 'input');
}

/** The schema of what a tool answers. */
export function outputJsonSchema(schema: z.ZodObject): JsonObject {
  return convert(schema, 'output');
}

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

/** Leaves out what zod adds by itself: the bounds of a safe integer and the pattern behind a format. */
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
}
