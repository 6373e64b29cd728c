/** State of a tool call that loads data. */
import type { Live } from '../live/states.ts';

/** Response, with the key of the request to which it belongs. */
export interface KnownResponse<Value> {
  readonly key: string;
  readonly live: Live<Value>;
}

/** Returns the state of a request: `loading` until its own response arrives, even if an earlier response is known. */
export function responseFor<Value>(key: string, known: KnownResponse<Value> | undefined): Live<Value> {
  return known?.key === key ? known.live : { state: 'loading' };
}

/** Loads the given number of pages, or all pages if the list has fewer. @param known pages that are already loaded */
export async function pagesOf<Page>(
  wanted: number,
  ask: (cursor: string | undefined) => Promise<Page>,
  cursorOf: (page: Page) => string | undefined,
  known: readonly Page[] = [],
): Promise<readonly Page[]> {
  const pages = [...known];
  for (;;) {
    const last = pages.at(-1);
    const cursor = last && cursorOf(last);
    if (last !== undefined && (cursor === undefined || pages.length >= wanted)) return pages;
    pages.push(await ask(cursor));
  }
}
