/** Ids that callers give: one segment of a path in either database, never a path. Only here does text become an id. */
import { z } from 'zod';
import { MusterError } from './errors.ts';

/** The form of all ids that Muster makes, and of those that people choose for agents. */
export const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** An argument that is an id of a form of its own, which must be one segment too. */
export const idLike = (form: RegExp, expected: string) =>
  z
    .string()
    .refine((text) => form.test(text), expected)
    .brand<'Id'>();

/** An argument that is the id of something. */
export const idOf = (what: string) => idLike(ID, `expected the id of ${what}`);

/** The same where the caller may choose it, and is told what it may be. */
export const chosenId = () =>
  idLike(ID, 'expected 1 to 100 letters, digits, "-" or "_", starting with a letter or digit');

/** The id in a cursor, which may be made of two. */
export const listedId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/);

/** Makes ids safe as parts of a path. @param forbidden what no part of a path of this database may have */
export function segmentOf(forbidden: RegExp, mostBytes: number): (id: string) => string {
  return (id) => {
    if (!forbidden.test(id) && new TextEncoder().encode(id).length <= mostBytes) return id;
    throw new MusterError('NOT_FOUND', 'Not found: this is not a valid id.', {
      suggestion: 'Use an id exactly as returned: letters, digits, "-" and "_".',
    });
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the Realtime Database refuses exactly these in a key
const FORBIDDEN_IN_KEYS = /[.#$[\]/%\u0000-\u001f\u007f]/g;

/** Any text as one key of the Realtime Database, reversibly: what a key may not have is written as in a URL. */
export function keyOf(text: string): string {
  return text.replace(
    FORBIDDEN_IN_KEYS,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** The text that `keyOf` wrote. */
export function nameOfKey(key: string): string {
  return key.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
