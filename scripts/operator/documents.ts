/** Reads whole collections in pages. A stream could be interrupted while the documents are processed. */
import { FieldPath, type Query, type QueryDocumentSnapshot } from '@google-cloud/firestore';

const PAGE = 300;

/** Yields pages with all documents of a query, ordered by path. The query must not specify an order. */
export async function* pagesOf(
  query: Query,
  read = (page: Query) => page.get(),
): AsyncGenerator<readonly QueryDocumentSnapshot[], void, undefined> {
  const ordered = query.orderBy(FieldPath.documentId()).limit(PAGE);
  let page = ordered;
  for (;;) {
    const { docs } = await read(page);
    if (docs.length > 0) yield docs;
    const last = docs.at(-1);
    if (last === undefined || docs.length < PAGE) return;
    page = ordered.startAfter(last);
  }
}

/** Returns the readable documents of a page, and calls `onUnreadable` with the paths of the unreadable ones. */
export function readable<Value>(
  page: readonly QueryDocumentSnapshot[],
  fromDocument: (data: unknown) => Value,
  onUnreadable: (path: string) => void,
): { readonly snapshot: QueryDocumentSnapshot; readonly value: Value }[] {
  return page.flatMap((snapshot) => {
    try {
      return [{ snapshot, value: fromDocument(snapshot.data()) }];
    } catch {
      onUnreadable(snapshot.ref.path);
      return [];
    }
  });
}

/** Number of concurrent operations. The database needs no more time for this many than for one. */
const AT_ONCE = 20;

export async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map(work));
}
