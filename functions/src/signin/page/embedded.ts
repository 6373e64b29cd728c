/** Settings that the server embeds in the page for the page's script. The server and the script share this file. */
import type { Texts } from '../http/texts.ts';

export interface PageSettings {
  /** Id of the authorization in progress, which the page sends with every request. */
  readonly authorization: string;
  /** Absolute URL to which the page sends the ID token. The URLs below are absolute, too. */
  readonly personUrl: string;
  readonly decisionUrl: string;
  /** URL of this page, which the link in a sign-in email opens. */
  readonly continueUrl: string;
  readonly firebase: { readonly apiKey: string; readonly authDomain: string };
  /** Origin of the Auth emulator, such as `http://127.0.0.1:9099`; absent in production. */
  readonly emulator?: string;
  readonly google: boolean;
}

export interface Embedded extends PageSettings {
  readonly texts: Texts['script'];
}

export const EMBEDDED_ID = 'settings';

/** Schemes that a redirect URL may have. The last one belongs to the client Cursor. */
const FOLLOWED = new Set(['http:', 'https:', 'cursor:']);

/** Returns whether the page may navigate to a URL. Schemes that run code are never allowed. */
export function isFollowed(location: string): boolean {
  return URL.canParse(location) && FOLLOWED.has(new URL(location).protocol);
}

/** Replaces the placeholders `{name}` in a text. Unknown placeholders stay. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (braces, name: string) => values[name] ?? braces);
}
