/** From Firestore's values to the JSON form of docs/guides/data.md. */
import { DocumentReference, GeoPoint, Timestamp, VectorValue } from '@google-cloud/firestore';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';

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
