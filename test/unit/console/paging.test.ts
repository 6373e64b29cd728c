import assert from 'node:assert/strict';
import { merged, pagedOf } from '../../../console/src/live/paging.ts';
import type { Paged } from '../../../console/src/live/states.ts';
import { cut, idsOf, whole } from './samples.ts';

const rows = (...ids: readonly string[]) => ids.map((id) => ({ id }));

describe('a list of the console that is loaded page by page', () => {
  it('counts its own rows when all are loaded, whatever a counter lags behind', () => {
    const live = { state: 'live', value: { rows: rows('a', 'b'), unreadable: 1, isCut: false } } as const;
    const list = pagedOf(live, 17, { more: () => undefined });
    assert.equal(list.count, 3);
    assert.equal(list.more, undefined);
  });

  it('has the count of the server when it is cut, and loads more', () => {
    let loaded = 0;
    const list = cut(rows('a', 'b'), 600, () => loaded++);
    assert.equal(list.count, 600);
    list.more?.();
    assert.equal(loaded, 1);
  });

  it('has no count when it is cut and the server has not counted, and never one below what exists', () => {
    assert.equal(cut(rows('a')).count, undefined);
    assert.equal(cut(rows('a', 'b'), 1).count, 3);
  });

  it('has each row once when it is merged of several', () => {
    const list = merged([whole(rows('a', 'b')), whole(rows('b', 'c'))]);
    assert.deepEqual(idsOf(list), ['a', 'b', 'c']);
    assert.equal(list.count, 3);
    assert.equal(list.more, undefined);
  });

  it('loads more of every part that is cut, and adds up what the server counts', () => {
    const loaded: string[] = [];
    const first = cut(rows('a'), 10, () => loaded.push('first'));
    const last = cut(rows('c'), 20, () => loaded.push('last'));
    const list = merged([first, whole(rows('b')), last]);
    assert.equal(list.count, 31);
    list.more?.();
    assert.deepEqual(loaded, ['first', 'last']);
    assert.equal(merged([first, cut(rows('d'))]).count, undefined);
  });

  it('is absent while a part is, and as old as its oldest part', () => {
    const parts = (live: Paged<{ id: string }>['live']) =>
      merged([whole(rows('a')), { live, count: undefined, more: undefined }]).live;
    assert.deepEqual(parts({ state: 'loading' }), { state: 'loading' });
    assert.deepEqual(parts({ state: 'denied' }), { state: 'denied' });
    const asOf = new Date(0);
    const stale = parts({ state: 'stale', value: { rows: rows('b'), unreadable: 0, isCut: false }, asOf });
    assert.equal(stale.state === 'stale' && stale.asOf, asOf);
  });
});
