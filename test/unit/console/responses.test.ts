import assert from 'node:assert/strict';
import { pagesOf, responseFor } from '../../../console/src/calls/responses.ts';

describe('tool response in the console', () => {
  it('is not shown if the person has requested other data in the meantime', () => {
    const known = { key: 'mine', live: { state: 'live', value: 1 } } as const;
    assert.deepEqual(responseFor('mine', known), { state: 'live', value: 1 });
    assert.deepEqual(responseFor('of all', known), { state: 'loading' });
    assert.deepEqual(responseFor('mine', undefined), { state: 'loading' });
  });

  it('contains the requested number of pages, or fewer if the list ends', async () => {
    const pages = [{ next: 'b' }, { next: 'c' }, { next: undefined }];
    const ask = async (cursor: string | undefined) => {
      const page = pages[['b', 'c'].indexOf(cursor ?? '') + 1];
      assert.ok(page);
      return page;
    };
    const cursorOf = (page: { readonly next: string | undefined }) => page.next;
    assert.deepEqual(await pagesOf(1, ask, cursorOf), pages.slice(0, 1));
    assert.deepEqual(await pagesOf(2, ask, cursorOf), pages.slice(0, 2));
    assert.deepEqual(await pagesOf(9, ask, cursorOf), pages);
  });
});
