/** Version of the runner. A test compares it to the version in package.json. */
export const VERSION = '0.4.0';
