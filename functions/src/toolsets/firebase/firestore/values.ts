/** Converts Firestore values to the JSON form of docs/guides/data.md, and validates field names. */
import { DocumentReference, GeoPoint, Timestamp, VectorValue } from '@google-cloud/firestore';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';

export function fieldsToJson(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toJson(value)]));
}

/** Converts a value to JSON. @param value read with `useBigInt`: integers are bigints, doubles are numbers */
export function toJson(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return doubleToJson(value);
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { __integer__: String(value) };
  }
  if (Array.isArray(value)) return value.map(toJson);
  return typeof value === 'object' ? objectToJson(value) : unsupported(typeof value);
}

function objectToJson(value: object): JsonValue {
  if (value instanceof Timestamp) return { __timestamp__: timestampText(value) };
  if (value instanceof GeoPoint) {
    // Adding 0 turns -0 into 0.
    return { __geopoint__: { latitude: value.latitude + 0, longitude: value.longitude + 0 } };
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

/** Returns the time in RFC 3339 format, with as many decimal places as necessary. */
function timestampText({ seconds, nanoseconds }: Timestamp): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length);
  const fraction = String(nanoseconds).padStart(9, '0').replace(/0+$/, '');
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}

/** Represents a value of a type that only Firestore's Enterprise edition has. Callers cannot write such values. */
function unsupported(type: string): JsonValue {
  return { __unsupported__: type };
}

/** Maximum sizes in bytes. Source: https://firebase.google.com/docs/firestore/quotas, "Limits". */
const [MAX_NAME_BYTES, MAX_PATH_BYTES] = [1500, 6144];
export const RESERVED = /^__.*__$/s;

/** Matches half of a surrogate pair, which cannot be encoded as UTF-8. */
export const HALF_CHARACTER = /\p{Surrogate}/u;

/** Splits a field path into names: `a.b` means the field `b` of the map `a`. */
export function splitFieldPath(text: string): readonly string[] {
  return text.split('.');
}

/** Returns the problem of a field path, as the rest of a sentence; undefined if the path is valid. */
export function pathProblem(text: string): string | undefined {
  if (Buffer.byteLength(text) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  const problem = splitFieldPath(text)
    .map(nameProblem)
    .find((one) => one !== undefined);
  return problem && `has a name that ${problem}`;
}

/** Returns the problem of a field name, as the rest of a sentence; undefined if the name is valid. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (RESERVED.test(name)) return 'has the form "__…__", which Firestore reserves';
  if (HALF_CHARACTER.test(name)) return 'contains an unpaired surrogate';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `is longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/**
 * Returns whether the SDK cannot update a field with this name, because every JavaScript object has a property with
 * the same name. Source: @google-cloud/firestore, build/src/document.js, DocumentSnapshot.fromUpdateMap.
 */
export function isInherited(name: string): boolean {
  return name in Object.prototype;
}
