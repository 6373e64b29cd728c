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
