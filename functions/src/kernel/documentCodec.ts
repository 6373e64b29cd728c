/**
 * Document codecs. Each is declared once, as a schema of the stored fields; values use the same field names. Encoding
 * and decoding both follow from the schema: a timestamp becomes a date, and a stored null becomes an absent field.
 * Source: docs/decisions/0027-declare-once.md.
 */
import { z } from 'zod/mini';
import type { JsonObject } from './json.ts';

type Schema = z.core.$ZodType;

/** Whether the field may be absent in a value, because a document may lack the field or store null. */
type IsOptional<Field> = Field extends { readonly _zod: { readonly optout: 'optional' } }
  ? true
  : null extends z.output<Field>
    ? true
    : false;

type FieldsIn<Shape> = {
  readonly [Field in keyof Shape as IsOptional<Shape[Field]> extends true ? never : Field]: ValueOf<Shape[Field]>;
} & {
  readonly [Field in keyof Shape as IsOptional<Shape[Field]> extends true ? Field : never]?: ValueOf<Shape[Field]>;
};

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
  /** Encodes a value. Fields that are not in the schema are omitted. */
  readonly toDocument: (value: Value) => Record<string, unknown>;
  /** @throws $ZodError if the stored data does not match the schema */
  readonly fromDocument: (data: unknown) => Value;
}

/** Returns the codec of a schema of stored fields. Values have the same field names. */
export function documentCodec<Stored extends z.core.$ZodObject>(schema: Stored): DocumentCodec<ValueOf<Stored>> {
  const { encode, decode } = objectCodec(schema);
  return {
    toDocument: encode,
    // `decode` returns a value of the type ValueOf, which the compiler cannot verify.
    fromDocument: (data) => decode(z.parse(schema, data)) as ValueOf<Stored>,
  };
}

export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** An object stored as JSON text, because Firestore has no nested arrays, no key order, and reserved field names. */
export const jsonText = z.codec(z.string(), jsonObject, {
  decode: (text) => JSON.parse(text),
  encode: (value) => JSON.stringify(value),
});

/** Conversion of one value: `encode` returns the stored form, `decode` converts the parsed form. */
interface FieldCodec<Made = unknown> {
  readonly encode: (value: unknown) => Made;
  readonly decode: (stored: unknown) => Made;
}

/** Returns the conversion of a schema's values; undefined if values are stored unchanged. */
function codecOf(schema: Schema): FieldCodec | undefined {
  if (
    schema instanceof z.core.$ZodNullable ||
    schema instanceof z.core.$ZodDefault ||
    schema instanceof z.core.$ZodExactOptional
  )
    return codecOf(schema._zod.def.innerType);
  if (schema instanceof z.core.$ZodObject) return objectCodec(schema);
  if (schema instanceof z.core.$ZodArray) {
    const item = codecOf(schema._zod.def.element);
    return item && { encode: eachItem(item.encode), decode: eachItem(item.decode) };
  }
  if (schema instanceof z.core.$ZodRecord) {
    const item = codecOf(schema._zod.def.valueType);
    return item && { encode: eachEntry(item.encode), decode: eachEntry(item.decode) };
  }
  if (schema instanceof z.core.$ZodCodec)
    return { encode: (value) => z.encode(schema, value), decode: (value) => value };
  return undefined;
}

function objectCodec(schema: z.core.$ZodObject): FieldCodec<Record<string, unknown>> {
  const fields = Object.entries(schema._zod.def.shape).map(([name, field]) => {
    return { name, walk: codecOf(field), absence: absenceOf(field) };
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

/** Returns a field of an object whose type is only known at run time. */
function partOf(whole: unknown, name: string): unknown {
  return (whole as Fields)[name];
}

/** How an absent value is stored: as null or as a missing field; `impossible`: the value cannot be absent. */
type Absence = 'null' | 'nothing' | 'impossible';

function absenceOf(field: Schema): Absence {
  if (field instanceof z.core.$ZodNullable) return 'null';
  if (field instanceof z.core.$ZodExactOptional) return 'nothing';
  return field instanceof z.core.$ZodDefault ? absenceOf(field._zod.def.innerType) : 'impossible';
}

function eachItem(step: FieldCodec['encode']): FieldCodec['encode'] {
  return (items) => (Array.isArray(items) ? items.map(step) : items);
}

function eachEntry(step: FieldCodec['encode']): FieldCodec['encode'] {
  return (record) => Object.fromEntries(Object.entries(record ?? {}).map(([key, item]) => [key, step(item)]));
}

/** A time as Firestore clients return it, recognized by its method, so that this file imports no client. */
interface StoredTime {
  toDate(): Date;
}

export function isTimestamp(value: unknown): value is StoredTime {
  return typeof value === 'object' && value !== null && 'toDate' in value && typeof value.toDate === 'function';
}

/** A Firestore timestamp that is parsed as a date. Muster writes times in whole milliseconds. */
export const timestamp = z.pipe(
  z.custom<StoredTime>(isTimestamp),
  z.transform((value: StoredTime) => value.toDate()),
);

export type Fields = Readonly<Record<string, unknown>>;

/** Converts items to the fields that audit entries store, and back. */
export interface FieldsCodec<Value> {
  readonly of: (value: Value) => Fields;
  /** @throws $ZodError if the fields do not match the schema of the item */
  readonly from: (fields: Fields) => Value;
}

/** @param fromDocument reads a document, in which times are Firestore timestamps */
export function fieldsCodec<Value>(
  of: (value: Value) => Fields,
  fromDocument: (data: unknown) => Value,
): FieldsCodec<Value> {
  const stamped = (part: unknown) => (part instanceof Date ? { toDate: () => part } : undefined);
  return { of, from: (fields) => fromDocument(mapped(fields, stamped)) };
}

/** @param replaced returns the replacement of a part, or undefined to keep the part and visit its own parts */
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
