/** The values that JSON does not have, read from their JSON form. */

import { DocumentReference, FieldValue, GeoPoint, Timestamp, VectorValue } from '@google-cloud/firestore';
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { parsePath } from '../rules/access.ts';

/** Makes the error, of the end of a sentence that begins with the value's key. */
type Refuse = (what: string) => MusterError;

const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/;

const DOUBLES: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  '-0': -0,
};

const INTEGER = /^-?\d{1,19}$/;

const [LEAST_INTEGER, GREATEST_INTEGER] = [-(2n ** 63n), 2n ** 63n - 1n];

const point = z.strictObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
});

/** Source: https://firebase.google.com/docs/firestore/vector-search */
const components = z
  .array(z.union([z.number(), z.strictObject({ __double__: z.enum(['Infinity', '-Infinity', '-0']) })]))
  .min(1)
  .max(2048);

export function timestamp(content: JsonValue, refuse: Refuse): Timestamp {
  const [, whole, fraction = ''] = (typeof content === 'string' && INSTANT.exec(content)) || [];
  const instant = new Date(`${whole}Z`);
  // Dates that no calendar has, such as February 30, are moved to one that it has.
  const real = !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(`${whole}.`);
  if (!real || instant.getUTCFullYear() < 1) {
    throw refuse('takes an instant from year 1 to 9999 such as "2026-11-22T01:02:03.123456Z"');
  }
  return new Timestamp(instant.getTime() / 1000, Number(fraction.padEnd(9, '0')));
}

export function geoPoint(content: JsonValue, refuse: Refuse): GeoPoint {
  const parsed = point.safeParse(content);
  if (!parsed.success) throw refuse('takes {"latitude": -90 to 90, "longitude": -180 to 180}');
  return new GeoPoint(parsed.data.latitude, parsed.data.longitude);
}

export function referencePath(content: JsonValue, refuse: Refuse): string {
  const example = 'takes the path of a document such as "agents/agent-001"';
  if (typeof content !== 'string') throw refuse(example);
  try {
    if (parsePath('firestore', content).kind === 'document') return content;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
  }
  throw refuse(example);
}

export function bytes(content: JsonValue, refuse: Refuse): Buffer {
  const decoded = Buffer.from(typeof content === 'string' ? content : '', 'base64');
  if (decoded.toString('base64') !== content) throw refuse('takes Base64 such as "aGVsbG8="');
  return decoded;
}

export function double(content: JsonValue, refuse: Refuse): number {
  const value = typeof content === 'string' && Object.hasOwn(DOUBLES, content) ? DOUBLES[content] : undefined;
  if (value === undefined) throw refuse('takes "NaN", "Infinity", "-Infinity" or "-0"');
  return value;
}

export function integer(content: JsonValue, refuse: Refuse): bigint {
  const value = typeof content === 'string' && INTEGER.test(content) ? BigInt(content) : undefined;
  if (value === undefined || value < LEAST_INTEGER || value > GREATEST_INTEGER) {
    throw refuse('takes a whole number of 64 bits such as "9007199254740993"');
  }
  return value;
}

export function vector(content: JsonValue, refuse: Refuse): VectorValue {
  const parsed = components.safeParse(content);
  if (!parsed.success) throw refuse('takes a list of 1 to 2048 numbers');
  const numbers = parsed.data.map((one) => (typeof one === 'number' ? one : double(one.__double__, refuse)));
  return FieldValue.vector(numbers);
}

// From Firestore's values to the JSON form of docs/guides/data.md.

export function fieldsToJson(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toJson(value)]));
}

/** @param value as a client with `useBigInt` gives it: integers are bigints, and numbers are doubles */
export function toJson(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return doubleToJson(value);
  if (typeof value === 'bigint') return integerToJson(value);
  if (Array.isArray(value)) return value.map(toJson);
  return typeof value === 'object' ? objectToJson(value) : unsupported(typeof value);
}

function objectToJson(value: object): JsonValue {
  if (value instanceof Timestamp) return { __timestamp__: timestampText(value) };
  if (value instanceof GeoPoint) {
    return {
      __geopoint__: { latitude: positiveZero(value.latitude), longitude: positiveZero(value.longitude) },
    };
  }
  if (value instanceof DocumentReference) return { __reference__: value.path };
  if (value instanceof Uint8Array) return { __bytes__: Buffer.from(value).toString('base64') };
  if (value instanceof VectorValue) return { __vector__: value.toArray().map(doubleToJson) };
  if (Object.getPrototypeOf(value) === Object.prototype) return fieldsToJson({ ...value });
  return unsupported(value.constructor.name);
}

function doubleToJson(value: number): JsonValue {
  if (Object.is(value, -0)) return { __double__: '-0' };
  return Number.isFinite(value) ? value : { __double__: String(value) };
}

function integerToJson(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : { __integer__: String(value) };
}

function positiveZero(value: number): number {
  return value === 0 ? 0 : value;
}

/** RFC 3339 with as many digits of the second as there are. */
function timestampText({ seconds, nanoseconds }: Timestamp): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length);
  const fraction = String(nanoseconds).padStart(9, '0').replace(/0+$/, '');
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}

/** A type of Firestore's Enterprise edition, which is told of and cannot be written. */
function unsupported(type: string): JsonValue {
  return { __unsupported__: type };
}

/** Names of fields, as callers write them. Source: https://firebase.google.com/docs/firestore/quotas, "Limits". */

const MAX_NAME_BYTES = 1500;

const MAX_PATH_BYTES = 6144;

const RESERVED = /^__.*__$/s;

/** A surrogate without its other half, which UTF-8 does not have. */
export const HALF_CHARACTER = /\p{Surrogate}/u;

/** A field's path: `a.b` is the field `b` of the map `a`. */
export function splitFieldPath(text: string): readonly string[] {
  return text.split('.');
}

/** What is wrong with a field's path, for the end of a sentence; undefined where nothing is. */
export function pathProblem(text: string): string | undefined {
  if (Buffer.byteLength(text) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  const problem = splitFieldPath(text)
    .map(nameProblem)
    .find((one) => one !== undefined);
  return problem && `has a name that ${problem}`;
}

/** What is wrong with a field's name, for the end of a sentence; undefined where nothing is. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (RESERVED.test(name)) return 'is in "__…__", which Firestore reserves';
  if (HALF_CHARACTER.test(name)) return 'holds half a character';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `is longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/**
 * Whether the SDK trips over a name in an update: it looks names up in an object that has inherited some.
 * Source: @google-cloud/firestore, build/src/document.js, DocumentSnapshot.fromUpdateMap.
 */
export function isInherited(name: string): boolean {
  return name in Object.prototype;
}
