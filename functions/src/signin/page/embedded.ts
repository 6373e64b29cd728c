/** Settings that the server embeds in the page for its script. Both sides share this file. */
import type { Texts } from '../http/texts.ts';

export interface PageSettings {
  /** The id of the authorization in progress; sent back with every request. */
  readonly authorization: string;
  /** Absolute URL that receives the ID token. The URLs below are absolute as well. */
  readonly personUrl: string;
  /** URL that receives the person's decision. */
  readonly decisionUrl: string;
  /** Target of the link in a sign-in email: this page. */
  readonly continueUrl: string;
  readonly firebase: { readonly apiKey: string; readonly authDomain: string };
  /** Origin of the Auth emulator, such as `http://127.0.0.1:9099`; absent in production. */
  readonly emulator?: string;
  /** Whether the page offers sign-in with Google. */
  readonly google: boolean;
}

export interface Embedded extends PageSettings {
  readonly texts: Texts['script'];
}

/** Id of the element that contains the settings as JSON. */
export const EMBEDDED_ID = 'settings';

/** Allowed schemes of redirect URLs. Cursor has its own. */
const FOLLOWED = new Set(['http:', 'https:', 'cursor:']);

/** Whether the page may navigate to a URL. Schemes that run code are never allowed. */
export function isFollowed(location: string): boolean {
  return URL.canParse(location) && FOLLOWED.has(new URL(location).protocol);
}

/** Fills `{name}` placeholders in a text. Unknown ones stay. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (braces, name: string) => values[name] ?? braces);
}
