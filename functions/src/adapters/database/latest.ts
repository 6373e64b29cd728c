/** Lists of which only the latest are kept: `{list}/{id}` with the milliseconds of the epoch under `at`. */
import type { DataSnapshot, Query } from 'firebase-admin/database';
import { changeNode } from './transactions.ts';

/** So many may have been added at the same time by others. */
const MOST_AT_ONCE = 100;

/**
 * Puts an entry there unless it is there, and drops the oldest beyond those that are kept. One that is older than
 * all of them is dropped again.
 * @param byTime the list, ordered by `at`
 */
export async function putAmongLatest(
  byTime: Query,
  key: string,
  entry: { readonly at: number },
  kept: number,
): Promise<void> {
  await changeNode(byTime.ref.child(key), (current) => (current === null ? entry : undefined));
  const found = await byTime.limitToLast(kept + MOST_AT_ONCE).get();
  const keys = keysIn(found);
  const dropped = keys.slice(0, Math.max(0, keys.length - kept));
  if (dropped.length > 0) await byTime.ref.update(Object.fromEntries(dropped.map((each) => [each, null])));
}

function keysIn(found: DataSnapshot): readonly string[] {
  const keys: string[] = [];
  found.forEach((child) => {
    keys.push(child.key);
  });
  return keys;
}
