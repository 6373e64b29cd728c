/** A test compares it to package.json. */
export const VERSION = '0.4.0';
