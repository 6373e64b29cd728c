/** The values that JSON does not have, read from their JSON form. */
import { FieldValue, GeoPoint, Timestamp, type VectorValue } from '@google-cloud/firestore';
import { z } from 'zod';
import { parsePath } from '../../../domain/data/path.ts';
import { MusterError } from '../../../domain/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';

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
