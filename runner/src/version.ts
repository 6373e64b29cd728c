/** Held to package.json by a test. */
export const VERSION = '0.4.0';
