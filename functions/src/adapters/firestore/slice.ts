import { FieldPath, type Query, QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { Page, Slice } from '../../domain/readers.ts';

/** A page ends before it is larger than this, in characters of JSON, so that no list fills an instance. */
const MAX_PAGE_CHARACTERS = 4_000_000;

/**
 * Reads one page of a query in the order of a time, then of ids. Documents are taken as they come and the
 * query is left as soon as the page is full.
 */
export async function readSlice<Item>(
  query: Query,
  time: string,
  direction: 'asc' | 'desc',
  { limit, after }: Page,
  fromDocument: (data: unknown) => Item,
): Promise<Slice<Item>> {
  const ordered = query
    .orderBy(time, direction)
    .orderBy(FieldPath.documentId(), direction)
    .limit(limit + 1);
  const continued = after === undefined ? ordered : ordered.startAfter(after.at, after.id);
  const items: Item[] = [];
  let characters = 0;
  for await (const snapshot of continued.stream()) {
    if (!(snapshot instanceof QueryDocumentSnapshot)) continue;
    const data = snapshot.data();
    characters += JSON.stringify(data).length;
    const full = items.length === limit || (items.length > 0 && characters > MAX_PAGE_CHARACTERS);
    if (full) return { items, more: true };
    items.push(fromDocument(data));
  }
  return { items, more: false };
}
