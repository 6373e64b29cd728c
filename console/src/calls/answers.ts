/** The state of a question to a tool. */
import type { Live } from '../live/states.ts';

/** An answer, and the question that it belongs to. */
export interface Known<Value> {
  readonly key: string;
  readonly live: Live<Value>;
}

/** Returns the answer to a question: `loading` until it arrives, even if an earlier question has an answer. */
export function answerTo<Value>(key: string, known: Known<Value> | undefined): Live<Value> {
  return known?.key === key ? known.live : { state: 'loading' };
}

/** As many pages as are wanted, or fewer if the list ends before. */
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
