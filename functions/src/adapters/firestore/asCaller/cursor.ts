/** Where a page ended, so that the next one goes on exactly there, also among equal values. */
import { z } from 'zod';
import { invalidRequest } from '../../../domain/data/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';

export interface Cursor {
  /** A digest of the query, which is the only one that the cursor goes with. */
  readonly query: string;
  /** The last document's name. */
  readonly name: string;
  /** What it was ordered by, in the JSON form; absent where names alone order, and where it is long. */
  readonly value?: JsonValue;
}

/** A cursor stays short enough for the tool's own limit, whatever the name. */
const MAX_VALUE_BYTES = 1000;

const written = z.strictObject({
  query: z.string(),
  name: z.string().min(1).max(1500),
  value: z.custom<JsonValue>((value) => value !== undefined).optional(),
});

export function cursorText({ query, name, value }: Cursor): string {
  const long = Buffer.byteLength(JSON.stringify(value) ?? '') > MAX_VALUE_BYTES;
  const cursor = long ? { query, name } : { query, name, value };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** @throws MusterError VALIDATION_ERROR where it is no cursor, or another query's */
export function parseCursor(text: string, query: string): Cursor {
  const parsed = written.safeParse(json(text));
  if (!parsed.success) throw invalidCursor('This is no cursor.');
  const { value, ...cursor } = parsed.data;
  if (cursor.query !== query) throw invalidCursor('This cursor belongs to another query.');
  return value === undefined ? cursor : { ...cursor, value };
}

export function invalidCursor(what: string) {
  return invalidRequest(
    'query.cursor',
    what,
    'Give nextCursor back with the path, orderBy, startAt and endAt that it came from, or begin again without one.',
  );
}

function json(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
