/** What is asked for at once, over work that ends when the test says so. */
import assert from 'node:assert/strict';
import { Batching } from '../../../functions/src/kernel/waiting.ts';

describe('batching', () => {
  let batches: (readonly number[])[];
  let end: (() => void)[];
  let batching: Batching<number, string>;

  beforeEach(() => {
    batches = [];
    end = [];
    batching = new Batching<number, string>(async (items) => {
      batches.push(items);
      await new Promise<void>((resolve) => end.push(resolve));
      if (items.includes(13)) throw new Error('Thirteen.');
      return (place) => `of ${items[place]}`;
    }, 3);
  });

  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('carries out the first at once, and what comes meanwhile together, at most so many', async () => {
    const results = [1, 2, 3, 4, 5].map((item) => batching.add(item));
    for (let batch = 0; batch < 3; batch++) {
      end[batch]?.();
      await settled();
    }
    assert.deepEqual(batches, [[1], [2, 3, 4], [5]]);
    assert.deepEqual(await Promise.all(results), ['of 1', 'of 2', 'of 3', 'of 4', 'of 5']);
  });

  it('tells all of a batch that it failed, and goes on', async () => {
    const results = Promise.allSettled([1, 13, 2].map((item) => batching.add(item)));
    end[0]?.();
    await settled();
    end[1]?.();
    assert.deepEqual(
      (await results).map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    const later = batching.add(3);
    end[2]?.();
    assert.equal(await later, 'of 3');
  });
});
