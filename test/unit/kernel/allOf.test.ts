import assert from 'node:assert/strict';
import { processAll } from '../../../functions/src/kernel/sweep.ts';

const things = Array.from({ length: 25 }, (_, index) => ({ id: String(index).padStart(2, '0') }));
const read = async (after = '') => things.filter(({ id }) => id > after).slice(0, 10);

describe('processAll', () => {
  it('processes the matching items of each page, and returns how many it changed', async () => {
    const seen: string[] = [];
    const isEven = ({ id }: { id: string }) => Number(id) % 2 === 0;
    const changed = await processAll(read, isEven, async ({ id }) => {
      seen.push(id);
      return id !== '24';
    });
    const expected = things.filter(isEven).map(({ id }) => id);
    assert.deepEqual(seen.sort(), expected);
    assert.equal(changed, 12);
  });

  it('continues after an item that fails, and throws an error at the end', async () => {
    const seen: string[] = [];
    const work = async ({ id }: { id: string }) => {
      seen.push(id);
      if (id === '03') throw new Error('It is stuck.');
      return true;
    };
    await assert.rejects(
      processAll(read, () => true, work),
      /It is stuck/,
    );
    assert.equal(seen.length, things.length);
  });
});
