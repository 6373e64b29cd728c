/**
 * Replacement for `re2js`, a third of Firestore's SDK, which only needs it for regular expressions in pipelines. The
 * console uses no pipelines. scripts/setup/console.mjs inserts it.
 */
export const RE2JS = {
  compile(): never {
    throw new Error('Regular expressions in pipelines are left out of this page.');
  },
};
