/** Batches of work, each of which ends when the test decides. */
import assert from 'node:assert/strict';
import { Batching, LatestValue } from '../../../functions/src/kernel/concurrency.ts';

describe('Batching', () => {
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

  it('runs the first item immediately, and later items in batches of limited size', async () => {
    const results = [1, 2, 3, 4, 5].map((item) => batching.add(item));
    for (let batch = 0; batch < 3; batch++) {
      end[batch]?.();
      await settled();
    }
    assert.deepEqual(batches, [[1], [2, 3, 4], [5]]);
    assert.deepEqual(await Promise.all(results), ['of 1', 'of 2', 'of 3', 'of 4', 'of 5']);
  });

  it('rejects all items of a batch that fails, and then runs the next batch', async () => {
    const results = Promise.allSettled([1, 13, 2].map((item) => batching.add(item)));
    end[0]?.();
    await settled();
    end[1]?.();
    const statuses = (await results).map(({ status }) => status);
    assert.deepEqual(statuses, ['fulfilled', 'rejected', 'rejected']);
    const later = batching.add(3);
    end[2]?.();
    assert.equal(await later, 'of 3');
  });
});

describe('LatestValue', () => {
  it('is yielded until the reader disconnects; then the source is stopped', async () => {
    const latest = new LatestValue<number>();
    const missing = new AbortController();
    let stops = 0;
    latest.set(1);
    latest.set(2);
    for await (const value of latest.until(missing.signal, () => void stops++)) {
      assert.equal(value, 2);
      missing.abort();
    }
    assert.equal(stops, 1);
  });
});
