/** Ids from callers. An id is one path segment in both databases, never a path of several segments. */
import { z } from 'zod';

/** Form of generated ids, and of the agent ids that people choose. */
export const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** Returns the schema of an argument that is an id of the given form and one path segment. */
export const idLike = (form: RegExp, expected: string) =>
  z
    .string()
    .refine((text) => form.test(text), expected)
    .brand<'Id'>();

/** Returns the schema of an argument that is an id. `what` appears in the error: "the id of a task". */
export const idOf = (what: string) => idLike(ID, `expected the id of ${what}`);

/** Returns the schema of an argument that is an id of the caller's choice. Its error states the allowed form. */
export const chosenId = () =>
  idLike(ID, 'expected 1 to 100 letters, digits, "-" or "_", starting with a letter or digit');

/** Schema of an id in a cursor. Such an id may combine two ids. */
export const listedId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the Realtime Database refuses exactly these in a key
const FORBIDDEN_IN_KEYS = /[.#$[\]/%\u0000-\u001f\u007f]/g;

/** Encodes any text as a key of the Realtime Database. Characters that keys must not contain are percent-encoded. */
export function keyOf(text: string): string {
  return text.replace(
    FORBIDDEN_IN_KEYS,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** Decodes a key of `keyOf`. */
export function nameOfKey(key: string): string {
  return key.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

const MAX_REF_LENGTH = 250;

/** Returns whether a text can name a branch, a tag or a commit. Source: git-check-ref-format(1). */
export function isRefName(ref: string): boolean {
  const parts = ref.split('/');
  return (
    ref.length <= MAX_REF_LENGTH &&
    !/[\p{Cc}\p{Cs}]/u.test(ref) &&
    !/[ ~^:?*[\\]|\.\.|@\{|\.$|^-|^@$/.test(ref) &&
    parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}
