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

/** Loads the given number of pages, or all pages if the list has fewer. */
export async function pagesOf<Page>(
  wanted: number,
  ask: (cursor: string | undefined) => Promise<Page>,
  cursorOf: (page: Page) => string | undefined,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    pages.push(page);
    cursor = cursorOf(page);
  } while (cursor !== undefined && pages.length < wanted);
  return pages;
}
