/**
 * Stub for `re2js`, which makes up a third of Firestore's SDK. The SDK needs it only for regular expressions in
 * pipelines, which the console does not use. scripts/setup/console.mjs inserts the stub.
 */
export const RE2JS = {
  compile(): never {
    throw new Error('Regular expressions in pipelines are left out of this page.');
  },
};
