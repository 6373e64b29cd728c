/** What the server writes into the page for its script: the one thing that both of them know. */
import type { Texts } from '../http/texts.ts';

export interface PageSettings {
  /** The id of the authorization in progress; sent back with every request. */
  readonly authorization: string;
  /** Where an ID token goes; an absolute URL, as those below. */
  readonly personUrl: string;
  /** Where the person's decision goes. */
  readonly decisionUrl: string;
  /** Where the link of a sign-in mail leads back to: this page again. */
  readonly continueUrl: string;
  readonly firebase: { readonly apiKey: string; readonly authDomain: string };
  /** The Auth emulator, as `http://127.0.0.1:9099`; absent where Firebase itself is asked. */
  readonly emulator?: string;
  /** Whether Google is offered. */
  readonly google: boolean;
}

export interface Embedded extends PageSettings {
  readonly texts: Texts['script'];
}

/** The id of the element that has it as JSON. */
export const EMBEDDED_ID = 'settings';

/** Schemes that the way back to a client may have: Cursor has one of its own. */
const FOLLOWED = new Set(['http:', 'https:', 'cursor:']);

/** Whether somebody may be led there: never where a scheme would run something. */
export function isFollowed(location: string): boolean {
  return URL.canParse(location) && FOLLOWED.has(new URL(location).protocol);
}

/** The text with what its braces name. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (braces, name: string) => values[name] ?? braces);
}
