import assert from 'node:assert/strict';
import { merged, pagedOf } from '../../../console/src/live/paging.ts';
import type { Paged } from '../../../console/src/live/states.ts';
import { cut, idsOf, whole } from './samples.ts';

const rows = (...ids: readonly string[]) => ids.map((id) => ({ id }));

describe('paged list in the console', () => {
  it("shows the number of its rows if all are loaded, even if the server's count is outdated", () => {
    const live = { state: 'live', value: { rows: rows('a', 'b'), unreadable: 1, isTruncated: false } } as const;
    const list = pagedOf(live, 17, { more: () => undefined });
    assert.equal(list.count, 3);
    assert.equal(list.more, undefined);
  });

  it("shows the server's count and offers to load more if it is truncated", () => {
    let loaded = 0;
    const list = cut(rows('a', 'b'), 600, () => loaded++);
    assert.equal(list.count, 600);
    list.more?.();
    assert.equal(loaded, 1);
  });

  it("shows no count if the server's count is missing, and never less than the loaded rows", () => {
    assert.equal(cut(rows('a')).count, undefined);
    assert.equal(cut(rows('a', 'b'), 1).count, 3);
  });

  it('contains each row once if it combines several lists', () => {
    const list = merged([whole(rows('a', 'b')), whole(rows('b', 'c'))]);
    assert.deepEqual(idsOf(list), ['a', 'b', 'c']);
    assert.equal(list.count, 3);
    assert.equal(list.more, undefined);
  });

  it("loads more of each truncated list that it combines, and adds up the server's counts", () => {
    const loaded: string[] = [];
    const first = cut(rows('a'), 10, () => loaded.push('first'));
    const last = cut(rows('c'), 20, () => loaded.push('last'));
    const list = merged([first, whole(rows('b')), last]);
    assert.equal(list.count, 31);
    list.more?.();
    assert.deepEqual(loaded, ['first', 'last']);
    assert.equal(merged([first, cut(rows('d'))]).count, undefined);
  });

  it('is unavailable if any of its combined lists is, and is as old as the oldest of these lists', () => {
    const parts = (live: Paged<{ id: string }>['live']) =>
      merged([whole(rows('a')), { live, count: undefined, more: undefined }]).live;
    assert.deepEqual(parts({ state: 'loading' }), { state: 'loading' });
    assert.deepEqual(parts({ state: 'denied' }), { state: 'denied' });
    const asOf = new Date(0);
    const stale = parts({ state: 'stale', value: { rows: rows('b'), unreadable: 0, isTruncated: false }, asOf });
    assert.equal(stale.state === 'stale' && stale.asOf, asOf);
  });
});
