/** Converts data in the JSON form of docs/guides/data.md to Firestore values. */
import { FieldValue, type Firestore, GeoPoint, Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Fields } from '../../../kernel/documentCodec.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import { isWrappedJson, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { parsePath } from '../rules/databaseAccess.ts';
import { invalidDataType, sizeLimitExceeded } from '../rules/dataErrors.ts';
import { HALF_CHARACTER, nameProblem, RESERVED } from './values.ts';

/** Maximum nesting depth of maps and lists. Source: https://firebase.google.com/docs/firestore/quotas */
const MAX_DEPTH = 20;

/** Maximum number of fields: a document has at most 40,000 index entries, 2 per field. Source: as for `MAX_DEPTH`. */
export const MAX_FIELDS = 20_000;
const SHOWN_FIELD_LENGTH = 200;

export interface Encoding {
  readonly client: Firestore;
  /** Where `__delete__` may occur. `dropped`: anywhere, and fields with `__delete__` are omitted from the result. */
  readonly deletes: 'nowhere' | 'top' | 'anywhere' | 'dropped';
  /** Whether transforms are allowed: the server's time, and changes of stored values, such as increments. */
  readonly transforms: boolean;
}

interface Place {
  readonly field: string;
  readonly depth: number;
  readonly parent: 'map' | 'list';
  /** Whether the value is inside a list, directly or indirectly. */
  readonly inList: boolean;
}

/** The message of the returned error consists of the value's key, followed by `what`. */
type Refuse = (what: string) => MusterError;

const DROPPED = Symbol('dropped');

/** Converts JSON to Firestore values. @throws MusterError with reason INVALID_DATA_TYPE and the invalid field */
export class Encoder {
  private readonly encoding: Encoding;
  /** A write with increments must not be applied twice. */
  increments = false;
  private fieldCount = 0;

  constructor(encoding: Encoding) {
    this.encoding = encoding;
  }

  document(data: JsonValue): Fields {
    return this.fields(documentFields(data), { field: 'data', depth: 0, parent: 'map', inList: false });
  }

  /** Converts one field. @param depth 1 for a field of the document, 2 for a field of a map in it, and so on */
  value(value: JsonValue, field: string, depth: number): unknown {
    return this.encode(value, { field, depth, parent: 'map', inList: false });
  }

  private fields(map: JsonObject, place: Place): Fields {
    const fields: [string, unknown][] = [];
    for (const [name, value] of Object.entries(map)) {
      if (value === undefined) continue;
      const within = inside(place, name, 'map');
      this.fieldCount += 1;
      if (this.fieldCount > MAX_FIELDS) throw tooManyFields();
      const problem = nameProblem(name);
      if (problem !== undefined) throw invalidDataType(within.field, `The field name ${problem}.`);
      const encoded = this.encode(value, within);
      if (encoded !== DROPPED) fields.push([name, encoded]);
    }
    return Object.fromEntries(fields);
  }

  private encode(value: JsonValue, place: Place): unknown {
    if (typeof value === 'string') return text(value, place);
    if (typeof value === 'number') return finite(value, place);
    if (value === null || typeof value === 'boolean') return value;
    if (place.depth > MAX_DEPTH)
      throw invalidDataType(place.field, `Maps and lists can nest at most ${MAX_DEPTH} levels.`);
    return isList(value) ? this.list(value, place) : this.map(value, place);
  }

  private list(list: readonly JsonValue[], place: Place): unknown[] {
    if (place.parent === 'list') {
      const what = 'Firestore does not support a list directly inside a list.';
      throw invalidDataType(place.field, what, 'Wrap the inner list in a map.');
    }
    return list.map((value, index) => this.encode(value, inside(place, String(index), 'list')));
  }

  private map(map: JsonObject, place: Place): unknown {
    const [only, ...others] = Object.entries(map);
    if (only?.[1] !== undefined && others.length === 0 && RESERVED.test(only[0]))
      return this.special(only[0], only[1], place);
    return this.fields(map, place);
  }

  private special(name: string, content: JsonValue, place: Place): unknown {
    const refuse: Refuse = (what) => invalidDataType(place.field, `${name} ${what}.`);
    const kind = VALUES.get(name);
    if (kind === undefined) return this.transform(name, content, place, refuse);
    if (name === '__vector__' && place.parent === 'list') throw refuse('is not allowed directly in a list');
    const [takes, schema] = kind;
    const { success, data } = schema.safeParse(content);
    if (!success) throw refuse(`must be ${takes}`);
    return name === '__reference__' ? this.encoding.client.doc(String(data)) : data;
  }

  private transform(name: string, content: JsonValue, place: Place, refuse: Refuse): unknown {
    if (!TRANSFORMS.includes(name)) throw refuse('is not a known type, and Firestore reserves such names');
    if (!this.encoding.transforms) throw refuse('is not allowed here');
    if (place.inList) throw refuse('is not allowed in a list');
    switch (name) {
      case '__serverTimestamp__':
        if (content !== true) throw refuse('must be true');
        return FieldValue.serverTimestamp();
      case '__increment__':
        if (typeof content !== 'number') throw refuse('must be a number');
        this.increments = true;
        return FieldValue.increment(finite(content, place));
      case '__delete__':
        if (content !== true) throw refuse('must be true');
        return this.deletion(place, refuse);
      case '__arrayUnion__':
        return FieldValue.arrayUnion(...this.elements(content, place, refuse));
      default:
        return FieldValue.arrayRemove(...this.elements(content, place, refuse));
    }
  }

  private deletion(place: Place, refuse: Refuse): unknown {
    const { deletes } = this.encoding;
    if (deletes === 'dropped') return DROPPED;
    if (deletes === 'anywhere' || (deletes === 'top' && place.depth === 1)) return FieldValue.delete();
    throw refuse(
      deletes === 'top'
        ? 'is only allowed at the top level of an update: for a nested field, use a path such as "a.b"'
        : 'requires the operation update, or the operation set with merge',
    );
  }

  private elements(content: JsonValue, place: Place, refuse: Refuse): unknown[] {
    if (!isList(content) || content.length === 0) throw refuse('must be a non-empty list');
    if (content.length > MAX_ELEMENTS) throw refuse(`can have at most ${MAX_ELEMENTS} elements`);
    return this.list(content, place);
  }
}

/** An RFC 3339 time with seconds and up to nine decimal places, from year 1 on. */
const instant = z.iso
  .datetime()
  .regex(/^(?!0000)[^.]*(\.\d{1,9})?Z$/)
  .transform((text) => {
    const nanoseconds = Number(text.slice(20, -1).padEnd(9, '0'));
    return new Timestamp(Date.parse(`${text.slice(0, 19)}Z`) / 1000, nanoseconds);
  });

const point = z
  .strictObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })
  .transform(({ latitude, longitude }) => new GeoPoint(latitude, longitude));

const bytes = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').toString('base64') === text)
  .transform((text) => Buffer.from(text, 'base64'));

const integer = z
  .string()
  .regex(/^-?\d{1,19}$/)
  .transform((text) => BigInt(text))
  .refine((value) => BigInt.asIntN(64, value) === value);

const double = z.enum(['NaN', 'Infinity', '-Infinity', '-0']);
const component = z.union([z.number(), z.strictObject({ __double__: double.exclude(['NaN']) })]);

/** Source: https://firebase.google.com/docs/firestore/vector-search */
const vector = z
  .array(component)
  .min(1)
  .max(2048)
  .transform((all) => FieldValue.vector(all.map((one) => Number(typeof one === 'number' ? one : one.__double__))));

/** Value types that JSON does not have, by key. Each has a description for error messages, and a schema. */
const VALUES: ReadonlyMap<string, readonly [takes: string, schema: z.ZodType]> = new Map([
  ['__timestamp__', ['an instant from year 1 to 9999 such as "2026-11-22T01:02:03.123456Z"', instant]],
  ['__geopoint__', ['{"latitude": -90 to 90, "longitude": -180 to 180}', point]],
  ['__reference__', ['a document path such as "agents/agent-001"', z.string().refine(isDocument)]],
  ['__bytes__', ['Base64 such as "aGVsbG8="', bytes]],
  ['__double__', ['"NaN", "Infinity", "-Infinity" or "-0"', double.transform(Number)]],
  ['__integer__', ['a 64-bit integer as text, such as "9007199254740993"', integer]],
  ['__vector__', ['a list of 1 to 2048 numbers', vector]],
]);

function isDocument(path: string): boolean {
  try {
    return parsePath('firestore', path).kind === 'document';
  } catch {
    return false;
  }
}

const TRANSFORMS: readonly string[] = [
  '__serverTimestamp__',
  '__increment__',
  '__delete__',
  '__arrayUnion__',
  '__arrayRemove__',
];

/** Maximum number of array elements. The SDK passes each as an argument of one call, and their number is limited. */
const MAX_ELEMENTS = 10_000;

/** @throws MusterError if the data is not an object, or if the object stands for a value such as a timestamp */
export function documentFields(data: JsonValue): JsonObject {
  if (data === null || typeof data !== 'object' || isList(data)) {
    const what = 'A Firestore document must be an object.';
    const suggestion = isWrappedJson(data)
      ? 'Send data as the object itself, not as JSON text.'
      : 'Put the value into a field.';
    throw invalidDataType('data', what, suggestion);
  }
  return data;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function inside({ field, depth, inList }: Place, name: string, parent: Place['parent']): Place {
  return {
    field: `${field}.${name}`.slice(0, SHOWN_FIELD_LENGTH),
    depth: depth + 1,
    parent,
    inList: inList || parent === 'list',
  };
}

export function tooManyFields(): MusterError {
  const what = `A document can have at most ${MAX_FIELDS} fields, including those of its maps.`;
  return sizeLimitExceeded('data', what, 'Split it into several documents.');
}

function text(value: string, place: Place): string {
  if (HALF_CHARACTER.test(value)) throw invalidDataType(place.field, 'The string contains an unpaired surrogate.');
  return value;
}

function finite(value: number, place: Place): number {
  if (!Number.isFinite(value))
    throw invalidDataType(place.field, 'This number is too large for JSON.', 'Use {"__double__": "Infinity"}.');
  return value;
}
