import { FieldPath, type Query, QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { Page, Slice } from '../../domain/readers.ts';
import { MAX_PAGE_CHARACTERS } from './limits.ts';

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
  const ordered = query.orderBy(time, direction).orderBy(FieldPath.documentId(), direction);
  return readPage(
    after === undefined ? ordered : ordered.startAfter(after.at, after.id),
    limit,
    fromDocument,
  );
}

/** Reads the first documents of a query, as many as fit into a page, and whether there are more. */
export async function readPage<Item>(
  query: Query,
  limit: number,
  fromDocument: (data: unknown) => Item,
): Promise<Slice<Item>> {
  const items: Item[] = [];
  let characters = 0;
  for await (const snapshot of query.limit(limit + 1).stream()) {
    if (!(snapshot instanceof QueryDocumentSnapshot)) continue;
    const data = snapshot.data();
    characters += JSON.stringify(data).length;
    const full = items.length === limit || (items.length > 0 && characters > MAX_PAGE_CHARACTERS);
    if (full) return { items, more: true };
    items.push(fromDocument(data));
  }
  return { items, more: false };
}
