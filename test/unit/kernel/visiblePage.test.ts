import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type PageRequest, type TimeCursor, visiblePage } from '../../../functions/src/kernel/paging.ts';
import { forAllAsync } from '../../support/properties.ts';

interface Item {
  readonly id: string;
  readonly isVisible: boolean;
}

function listOf(visible: readonly boolean[]) {
  const items = visible.map((isVisible, index): Item => ({ id: `item-${index}`, isVisible }));
  const sizes: number[] = [];
  const read = async ({ limit, after }: PageRequest) => {
    const from = after === undefined ? 0 : items.findIndex(({ id }) => id === after.id) + 1;
    const slice = items.slice(from, from + limit);
    sizes.push(slice.length);
    return { items: slice, more: from + limit < items.length };
  };
  const placeOf = ({ id }: Item): TimeCursor => ({ at: new Date(0), id });
  const page = (asked: PageRequest) =>
    visiblePage(asked, read, placeOf, ({ id, isVisible }) => (isVisible ? id : undefined));
  return { items, sizes, page };
}

describe('visiblePage', () => {
  it('returns each visible item once, wherever hidden items are in the list', () =>
    forAllAsync(fc.array(fc.boolean(), { maxLength: 300 }), fc.integer({ min: 1, max: 40 }), async (visible, limit) => {
      const { items, page } = listOf(visible);
      const seen: string[] = [];
      let after: TimeCursor | undefined;
      for (let isMore = true; isMore; ) {
        const found = await page({ limit, ...(after && { after }) });
        assert.ok(found.items.length <= limit);
        assert.equal(found.more, found.last !== undefined);
        seen.push(...found.items);
        isMore = found.more;
        after = found.last;
      }
      const wanted = items.filter(({ isVisible }) => isVisible).map(({ id }) => id);
      assert.deepEqual(seen, wanted);
    }));

  it('reads only as many items as it returns if no item is hidden', async () => {
    const { page, sizes } = listOf(Array.from({ length: 50 }, () => true));
    assert.equal((await page({ limit: 7 })).items.length, 7);
    assert.deepEqual(sizes, [7]);
  });

  it('reads a limited number of items in few queries if all items are hidden', async () => {
    const { page, sizes } = listOf(Array.from({ length: 1000 }, () => false));
    const { items, more } = await page({ limit: 1 });
    assert.deepEqual([items, more], [[], true]);
    assert.ok(sizes.length <= 7, `${sizes.length} queries`);
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 130);
  });
});
