/** What scripts/setup/console.mjs puts into the page as it builds it. */

/** The region of the functions, such as `us-central1`. */
declare const __REGION__: string;
