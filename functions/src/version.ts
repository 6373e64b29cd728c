/** The version that clients are told. A test holds it to package.json's. */
export const VERSION = '0.1.0';
