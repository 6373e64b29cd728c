/**
 * Documents as they are declared once: a schema in the words that are stored, which are the words of the code. From it
 * follow both directions, in one walk: a timestamp is a date, and where null is stored the value has nothing.
 * See docs/decisions/0027-declare-once.md.
 */

import { z } from 'zod/mini';
import type { JsonObject } from './json.ts';

type Schema = z.core.$ZodType;

/** A value may lack a field that a document may lack, or that may be null there. */
type IsOptional<Field> = Field extends { readonly _zod: { readonly optout: 'optional' } }
  ? true
  : null extends z.output<Field>
    ? true
    : false;

type FieldsIn<Shape> = {
  readonly [Field in keyof Shape as IsOptional<Shape[Field]> extends true ? never : Field]: ValueOf<
    Shape[Field]
  >;
} & {
  readonly [Field in keyof Shape as IsOptional<Shape[Field]> extends true ? Field : never]?: ValueOf<
    Shape[Field]
  >;
};

/** The value that is made of a stored one. */
type ValueOf<Stored> =
  Stored extends z.core.$ZodObject<infer Shape>
    ? FieldsIn<Shape>
    : Stored extends z.core.$ZodArray<infer Item>
      ? readonly ValueOf<Item>[]
      : Stored extends z.core.$ZodRecord<infer _Key, infer Item>
        ? Readonly<Record<string, ValueOf<Item>>>
        : Stored extends
              | z.core.$ZodNullable<infer Inner>
              | z.core.$ZodDefault<infer Inner>
              | z.core.$ZodExactOptional<infer Inner>
          ? ValueOf<Inner>
          : z.output<Stored>;

export interface DocumentCodec<Value> {
  /** Leaves out what the schema does not have. */
  readonly toDocument: (value: Value) => Record<string, unknown>;
  /** @throws $ZodError where a document is not as the schema says */
  readonly fromDocument: (data: unknown) => Value;
}

/** Reads and writes the documents of a schema. A value has the fields that are stored, by the same names. */
export function documentCodec<Stored extends z.core.$ZodObject>(
  schema: Stored,
): DocumentCodec<ValueOf<Stored>> {
  const { encode, decode } = objectWalk(schema);
  return {
    toDocument: encode,
    // The walk makes of each schema what ValueOf says of it, which the compiler cannot see.
    fromDocument: (data) => decode(z.parse(schema, data)) as ValueOf<Stored>,
  };
}

export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** An object as JSON text: Firestore has no arrays in arrays, no order of keys, and field names of its own. */
export const jsonText = z.codec(z.string(), jsonObject, {
  decode: (text) => JSON.parse(text),
  encode: (value) => JSON.stringify(value),
});

/** From a value to what is stored of it, and from what the schema has read of that to the value. */
interface Walk<Made = unknown> {
  readonly encode: (value: unknown) => Made;
  readonly decode: (stored: unknown) => Made;
}

/** Undefined where a value is stored as it is. */
function walkOf(schema: Schema): Walk | undefined {
  if (
    schema instanceof z.core.$ZodNullable ||
    schema instanceof z.core.$ZodDefault ||
    schema instanceof z.core.$ZodExactOptional
  )
    return walkOf(schema._zod.def.innerType);
  if (schema instanceof z.core.$ZodObject) return objectWalk(schema);
  if (schema instanceof z.core.$ZodArray) {
    const item = walkOf(schema._zod.def.element);
    return item && { encode: eachItem(item.encode), decode: eachItem(item.decode) };
  }
  if (schema instanceof z.core.$ZodRecord) {
    const item = walkOf(schema._zod.def.valueType);
    return item && { encode: eachEntry(item.encode), decode: eachEntry(item.decode) };
  }
  if (schema instanceof z.core.$ZodCodec)
    return { encode: (value) => z.encode(schema, value), decode: (value) => value };
  return undefined;
}

function objectWalk(schema: z.core.$ZodObject): Walk<Record<string, unknown>> {
  const fields = Object.entries(schema._zod.def.shape).map(([name, field]) => {
    return { name, walk: walkOf(field), absence: absenceOf(field) };
  });
  return {
    encode: (value) => {
      const document: Record<string, unknown> = {};
      for (const { name, walk, absence } of fields) {
        const part = partOf(value, name);
        if (part != null || absence === 'impossible') document[name] = walk ? walk.encode(part) : part;
        else if (absence === 'null') document[name] = null;
      }
      return document;
    },
    decode: (document) => {
      const value: Record<string, unknown> = {};
      for (const { name, walk, absence } of fields) {
        const part = partOf(document, name);
        if (part != null || absence === 'impossible') value[name] = walk ? walk.decode(part) : part;
      }
      return value;
    },
  };
}

/** A field of an object. The compiler knows none where the schema is only known at run time. */
function partOf(whole: unknown, name: string): unknown {
  return (whole as Fields)[name];
}

/** How a document says that a field has no value. */
type Absence = 'null' | 'nothing' | 'impossible';

function absenceOf(field: Schema): Absence {
  if (field instanceof z.core.$ZodNullable) return 'null';
  if (field instanceof z.core.$ZodExactOptional) return 'nothing';
  return field instanceof z.core.$ZodDefault ? absenceOf(field._zod.def.innerType) : 'impossible';
}

function eachItem(step: Walk['encode']): Walk['encode'] {
  return (items) => (Array.isArray(items) ? items.map(step) : items);
}

function eachEntry(step: Walk['encode']): Walk['encode'] {
  return (record) => Object.fromEntries(Object.entries(record ?? {}).map(([key, item]) => [key, step(item)]));
}

/** A time as Firestore's clients return it. By what it can do, so that this file loads no client. */
interface StoredTime {
  toDate(): Date;
}

export function isTimestamp(value: unknown): value is StoredTime {
  return (
    typeof value === 'object' && value !== null && 'toDate' in value && typeof value.toDate === 'function'
  );
}

/** A Firestore timestamp, read as a date. Milliseconds are all that Muster writes. */
export const timestamp = z.pipe(
  z.custom<StoredTime>(isTimestamp),
  z.transform((value: StoredTime) => value.toDate()),
);

/** What is stored of a thing, as its document has it. */
export type Fields = Readonly<Record<string, unknown>>;

/** Things as the trail tells of them, and back. */
export interface FieldsCodec<Value> {
  readonly of: (value: Value) => Fields;
  /** @throws $ZodError where they are not those of such a thing */
  readonly from: (fields: Fields) => Value;
}

/** @param fromDocument reads a document, in which times are Firestore's */
export function fieldsCodec<Value>(
  of: (value: Value) => Fields,
  fromDocument: (data: unknown) => Value,
): FieldsCodec<Value> {
  const stamped = (part: unknown) => (part instanceof Date ? { toDate: () => part } : undefined);
  return { of, from: (fields) => fromDocument(mapped(fields, stamped)) };
}

/** @param replaced gives undefined for what stays, whose parts are then looked at */
export function mapped(fields: Fields, replaced: (part: unknown) => unknown): Fields {
  const walk = (part: unknown): unknown => {
    const other = replaced(part);
    if (other !== undefined) return other;
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null || part instanceof Date) return part;
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, walk(value)]));
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, walk(value)]));
}
