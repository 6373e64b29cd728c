/** Combines the loaded rows of a list, or of several lists, with the counts by the server. */
import type { Live, Paged, Rows } from './states.ts';

/** @param counted number of matching rows by the server's counters, which may lag behind the loaded rows */
export function pagedOf<Row>(
  live: Live<Rows<Row>>,
  counted: number | undefined,
  { more }: { more(): void },
): Paged<Row> {
  if (!('value' in live)) return { live, count: undefined, more: undefined };
  const { rows, unreadable, isTruncated } = live.value;
  const loaded = rows.length + unreadable;
  if (!isTruncated) return { live, count: loaded, more: undefined };
  return { live, count: counted === undefined ? undefined : Math.max(counted, loaded + 1), more };
}

/** Returns the rows of several lists as one list, without duplicates. */
export function merged<Row extends { readonly id: string }>(parts: readonly Paged<Row>[]): Paged<Row> {
  const lives = parts.map(({ live }) => live);
  const rows = new Map<string, Row>();
  let unreadable = 0;
  for (const live of lives) {
    if (!('value' in live)) continue;
    for (const row of live.value.rows) if (!rows.has(row.id)) rows.set(row.id, row);
    unreadable += live.value.unreadable;
  }
  const cut = parts.flatMap(({ more }) => (more === undefined ? [] : [more]));
  const value = { rows: [...rows.values()], unreadable, isTruncated: cut.length > 0 };
  const counts = parts.map(({ count: one }) => one);
  const sum = counts.some((one) => one === undefined)
    ? undefined
    : counts.reduce<number>((total, one) => total + (one ?? 0), 0);
  return pagedOf(together(lives, value), sum, {
    more() {
      for (const more of cut) more();
    },
  });
}

/** Returns the state of a part that has no value yet, if there is such a part; otherwise the least fresh state. */
function together<Value>(lives: readonly Live<unknown>[], value: Value): Live<Value> {
  const absent =
    lives.find(({ state }) => state === 'denied' || state === 'failed') ??
    lives.find(({ state }) => state === 'loading');
  if (absent !== undefined && !('value' in absent)) return absent;
  const stale = lives.find((live) => live.state === 'stale');
  return stale?.state === 'stale' ? { state: 'stale', value, asOf: stale.asOf } : { state: 'live', value };
}
