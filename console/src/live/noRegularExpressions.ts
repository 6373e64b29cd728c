/**
 * Stands for `re2js`, which Firestore's SDK brings for regular expressions in pipelines: a third of the SDK, and no page
 * of ours uses a pipeline. scripts/setup/console.mjs puts it in its place.
 */
export const RE2JS = {
  compile(): never {
    throw new Error('Regular expressions in pipelines are left out of this page.');
  },
};
