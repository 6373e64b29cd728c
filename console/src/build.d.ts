/** What scripts/setup/console.mjs puts into the page as it builds it. */

/** The region of the functions, such as `us-central1`. */
declare const __REGION__: string;

/** Where clients connect, such as `https://muster.example/mcp`; empty if nobody knew as the page was built. */
declare const __ADDRESS__: string;

/** The Firestore database, such as `(default)`. */
declare const __DATABASE_ID__: string;

/** What browsers have and TypeScript's types of them lack. What a policy makes is taken where an address is. */
interface Window {
  readonly trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL(address: string): string },
    ): { createScriptURL(address: string): URL };
  };
}
