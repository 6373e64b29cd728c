import { z } from 'zod';

/** A value that JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/**
 * An object that came out of a tool's output schema. Only its outermost shape is checked: the schema has
 * already checked the rest.
 */
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** A value that came out of JSON, which leaves nothing to check. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined);

/** JSON with the keys of every object in order, so that equal arguments have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}
