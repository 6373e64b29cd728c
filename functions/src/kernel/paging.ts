/** Paging of lists: every list is ordered, has a maximum length, and continues at a cursor. */
import { z } from 'zod';
import { MusterError } from './errors.ts';
import { listedId } from './ids.ts';
import { parsedJson } from './json.ts';

/** Position at which a list continues: sort time and id of the last returned item. */
export interface TimeCursor {
  readonly at: Date;
  readonly id: string;
}

export interface PageRequest {
  readonly limit: number;
  readonly after?: TimeCursor | undefined;
}

/** One page of a list. It has fewer items than the limit if the items are large. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly more: boolean;
}

/** Page of a list from which hidden items are removed. The next page starts after `last`. */
export interface VisiblePage<Item> extends ListPage<Item> {
  readonly last?: TimeCursor | undefined;
}

/** Maximum number of hidden items that are read for one page. */
const MAX_HIDDEN_READ = 100;

/** Minimum number of items that each query of a page reads, except the first query. */
const MIN_READ = 20;

/**
 * Returns a page of the items that the reader may see, by several queries if needed. If the queries find many hidden
 * items, the page is shorter, and `more` is true.
 * @param visibleTo returns an item as the reader may see it; undefined if the item is hidden from the reader
 */
export async function visiblePage<Item, Seen>(
  page: PageRequest,
  read: (page: PageRequest) => Promise<ListPage<Item>>,
  placeOf: (item: Item) => TimeCursor,
  visibleTo: (item: Item) => Seen | undefined,
): Promise<VisiblePage<Seen>> {
  const visibleItems: Seen[] = [];
  let { limit, after } = page;
  for (let hidden = 0; hidden <= MAX_HIDDEN_READ; limit = Math.max(page.limit - visibleItems.length, MIN_READ)) {
    const { items, more } = await read({ limit, ...(after && { after }) });
    const [visible, last] = firstVisible(items, page.limit - visibleItems.length, visibleTo);
    visibleItems.push(...visible);
    if (last === undefined || (!more && last === items.at(-1))) return { items: visibleItems, more: false };
    after = placeOf(last);
    if (visibleItems.length === page.limit) break;
    hidden += items.length - visible.length;
  }
  return { items: visibleItems, more: true, last: after };
}

/** Returns up to `limit` visible items, and the last item that was read for them. */
function firstVisible<Item, Seen>(
  items: readonly Item[],
  limit: number,
  see: (item: Item) => Seen | undefined,
): readonly [readonly Seen[], Item | undefined] {
  const seen: Seen[] = [];
  for (const item of items) {
    const visible = see(item);
    if (visible !== undefined) seen.push(visible);
    if (seen.length === limit) return [seen, item];
  }
  return [seen, items.at(-1)];
}

/** Part of a sweep over due items. The sweep can stop after any item and resume at the item's place. */
export interface SweepBatch<Item> {
  readonly found: readonly { readonly item: Item; readonly place: TimeCursor }[];
  /** Place at which the pass continues; absent if no items are left. */
  readonly next?: TimeCursor | undefined;
}

export interface CursorPage<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; absent on the last page. A page with a cursor may be shorter than the limit. */
  readonly next?: ListCursor | undefined;
}

/** Position at which a list continues: sort values and id of the last item that was checked. */
export interface ListCursor {
  readonly order: readonly number[];
  readonly id: string;
}

/** Largest value of a number in a cursor: the latest time of a Date, in milliseconds since 1970. */
const MAX_TIME_MS = 8.64e15;
const decoded = z.tuple([z.string(), z.array(z.int().min(-MAX_TIME_MS).max(MAX_TIME_MS)).max(4), listedId]);

/** Encodes a cursor that is valid only for one query. @param question the query's parameters as text */
export function encodeCursor(question: string, { order, id }: ListCursor): string {
  return Buffer.from(JSON.stringify([question, order, id])).toString('base64url');
}

/** @throws MusterError INVALID_FORMAT if the cursor belongs to another query or is damaged */
export function decodeCursor(
  question: string,
  encoded: string | undefined,
  suggestion: string,
): ListCursor | undefined {
  if (encoded === undefined) return undefined;
  const { success, data } = decoded.safeParse(parsedJson(Buffer.from(encoded, 'base64url').toString()));
  if (success && data[0] === question) return { order: data[1], id: data[2] };
  throw new MusterError('INVALID_FORMAT', 'Invalid cursor for this list.', { field: 'cursor', suggestion });
}

/** Returns the items as lists of at most `size` items. */
export function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return items.flatMap((_, index) => (index % size === 0 ? [items.slice(index, index + size)] : []));
}

/** Number of items in progress at the same time. Each item mostly waits for its own commits. */
const CONCURRENCY = 10;

/**
 * Processes all items of a query, page by page. If one item fails, the others are still processed.
 * @param read returns the page that follows the item with the given id; an empty page ends the list
 * @param work processes one item, and returns whether anything changed
 * @returns the number of changed items
 * @throws the first error of `work`, after all items were processed
 */
export async function processAll<Item extends { readonly id: string }>(
  read: (after?: string) => Promise<readonly Item[]>,
  isWanted: (item: Item) => boolean,
  work: (item: Item) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  const errors: unknown[] = [];
  for (let page = await read(); page.length > 0; page = await read(page.at(-1)?.id)) {
    const wanted = page.filter(isWanted);
    for (let first = 0; first < wanted.length; first += CONCURRENCY) {
      for (const outcome of await Promise.allSettled(wanted.slice(first, first + CONCURRENCY).map(work))) {
        if (outcome.status === 'rejected') errors.push(outcome.reason);
        else if (outcome.value) changed++;
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return changed;
}
