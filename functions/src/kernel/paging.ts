/** How lists are read: each is bounded, ordered and continued from a cursor. */
import { z } from 'zod';
import { MusterError } from './errors.ts';
import { listedId } from './ids.ts';
import { parsedJson } from './json.ts';

/** The place after which a list goes on: the sort time and the id of the last item given. */
export interface Position {
  readonly at: Date;
  readonly id: string;
}

export interface Page {
  readonly limit: number;
  readonly after?: Position;
}

/** A page of a list: at most its limit, and fewer where the items are large. */
export interface Slice<Item> {
  readonly items: readonly Item[];
  /** Whether the list goes on after these. */
  readonly more: boolean;
}

/** A page of which items are hidden from the reader, who continues after `last`. */
export interface VisibleSlice<Item> extends Slice<Item> {
  readonly last?: Position | undefined;
}

/** How many hidden items are read for one page. */
const MAX_HIDDEN = 100;

/** The second query of a page and each later one reads at least this many items. */
const LEAST_READ = 20;

/**
 * Returns a page of what the reader sees, in as many queries as it takes; shorter with `more` after many hidden items.
 * @param see the item as the reader sees it; undefined if it is hidden
 */
export async function visiblePage<Item, Seen>(
  page: Page,
  read: (page: Page) => Promise<Slice<Item>>,
  placeOf: (item: Item) => Position,
  see: (item: Item) => Seen | undefined,
): Promise<VisibleSlice<Seen>> {
  const seen: Seen[] = [];
  let { limit, after } = page;
  for (let hidden = 0; hidden <= MAX_HIDDEN; limit = Math.max(page.limit - seen.length, LEAST_READ)) {
    const { items, more } = await read({ limit, ...(after && { after }) });
    const [visible, last] = firstSeen(items, page.limit - seen.length, see);
    seen.push(...visible);
    if (last === undefined || (!more && last === items.at(-1))) return { items: seen, more: false };
    after = placeOf(last);
    if (seen.length === page.limit) break;
    hidden += items.length - visible.length;
  }
  return { items: seen, more: true, last: after };
}

/** At most so many that the reader sees, and the last item that was looked at for them. */
function firstSeen<Item, Seen>(
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

/** A part of a walk over what is due. Each has its place, at which the walk may be left and taken up again. */
export interface Batch<Item> {
  readonly found: readonly { readonly item: Item; readonly place: Position }[];
  /** Where the walk goes on, where it does. */
  readonly next?: Position | undefined;
}

export interface Found<Item> {
  readonly items: readonly Item[];
  /** Where the list goes on, where it does; a page may be shorter than asked for and go on all the same. */
  readonly next?: Place | undefined;
}

/** The place after which a list goes on: what it is ordered by, in the last item looked at, and its id. */
export interface Place {
  readonly order: readonly number[];
  readonly id: string;
}

/** Milliseconds of the epoch that a date can hold, and every smaller number. */
const LARGEST = 8.64e15;

const decoded = z.tuple([z.string(), z.array(z.int().min(-LARGEST).max(LARGEST)).max(4), listedId]);

/** An opaque cursor, good for one question. @param question what the list was asked for, as text */
export function encodeCursor(question: string, { order, id }: Place): string {
  return Buffer.from(JSON.stringify([question, order, id])).toString('base64url');
}

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours, or one of another question */
export function decodeCursor(
  question: string,
  encoded: string | undefined,
  suggestion: string,
): Place | undefined {
  if (encoded === undefined) return undefined;
  const { success, data } = decoded.safeParse(parsedJson(Buffer.from(encoded, 'base64url').toString()));
  if (success && data[0] === question) return { order: data[1], id: data[2] };
  throw new MusterError('INVALID_FORMAT', 'Invalid cursor for this list.', { field: 'cursor', suggestion });
}

/** Works on all things of a query, some at a time. */

/** Each has commits of its own, and mostly waits for them. */
const AT_ONCE = 10;

interface Identified {
  readonly id: string;
}

/**
 * Works on each thing that is wanted, page by page. One that fails does not keep the others from their turn.
 * @param read returns the page after an id; an empty one is the end
 * @param work returns whether it changed anything
 * @returns how many things were changed
 * @throws the first error of `work`, after all have had their turn
 */
export async function allOf<Item extends Identified>(
  read: (after?: string) => Promise<readonly Item[]>,
  isWanted: (item: Item) => boolean,
  work: (item: Item) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  const errors: unknown[] = [];
  for (let page = await read(); page.length > 0; page = await read(page.at(-1)?.id)) {
    const wanted = page.filter(isWanted);
    for (let first = 0; first < wanted.length; first += AT_ONCE) {
      for (const outcome of await Promise.allSettled(wanted.slice(first, first + AT_ONCE).map(work))) {
        if (outcome.status === 'rejected') errors.push(outcome.reason);
        else if (outcome.value) changed++;
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return changed;
}
