/** State of a tool call that loads data. */
import type { Live } from '../live/states.ts';

/** Result with the request that it belongs to. */
export interface KnownResponse<Value> {
  readonly key: string;
  readonly live: Live<Value>;
}

/** Returns the state of a request: `loading` until its result arrives, even if an earlier request has one. */
export function responseFor<Value>(key: string, known: KnownResponse<Value> | undefined): Live<Value> {
  return known?.key === key ? known.live : { state: 'loading' };
}

/** Loads the requested number of pages, or fewer if the list ends. */
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
