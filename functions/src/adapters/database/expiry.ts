import type { Query } from 'firebase-admin/database';

/** Removes what the query finds, in one write. Tells how many. */
export async function removeFound(query: Query): Promise<number> {
  const found = await query.get();
  const removals: Record<string, null> = {};
  found.forEach((child) => {
    removals[child.key] = null;
  });
  const count = Object.keys(removals).length;
  if (count > 0) await query.ref.update(removals);
  return count;
}
