/** Constants that scripts/setup/console.mjs inserts at build time. */

/** Region of the functions, such as `us-central1`. */
declare const __REGION__: string;

/** Address for clients, such as `https://muster.example/mcp`; empty if unknown at build time. */
declare const __ADDRESS__: string;

/** Public key of the Web Push certificate; empty if push messages to browsers are not configured. */
declare const __WEB_PUSH_KEY__: string;

/** Firestore database, such as `(default)`. */
declare const __DATABASE_ID__: string;

/** Browser API that TypeScript's types lack. The DOM accepts the result of a policy in place of an address. */
interface Window {
  readonly trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL(address: string): string },
    ): { createScriptURL(address: string): URL };
  };
}
