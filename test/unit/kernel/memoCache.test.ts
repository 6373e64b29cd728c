import assert from 'node:assert/strict';
import { MemoCache } from '../../../functions/src/kernel/memoCache.ts';

describe('MemoCache', () => {
  let kept: MemoCache<string>;
  let readings = 0;

  beforeEach(() => {
    kept = new MemoCache();
    readings = 0;
  });

  const read = (key: string, stamp: string, value = 'x') =>
    kept.read(key, stamp, async () => {
      readings++;
      return value;
    });

  it('returns a cached value until its stamp changes, and reads once for concurrent callers', async () => {
    await Promise.all([read('a', '1'), read('a', '1')]);
    await read('a', '1');
    assert.equal(readings, 1);
    await read('a', '2');
    await read('b', '2');
    assert.equal(readings, 3);
  });

  it('stores neither values that are too long nor failed reads', async () => {
    await read('long', '1', 'x'.repeat(300_001));
    await read('long', '1');
    assert.equal(readings, 2);
    const fail = () => kept.read('broken', '1', () => Promise.reject(new Error('away')));
    await assert.rejects(fail, /away/);
    assert.equal(await read('broken', '1', 'back'), 'back');
  });

  it('stores a limited number of entries', async () => {
    for (let key = 0; key < 17; key++) await read(String(key), '1');
    await read('16', '1');
    assert.equal(readings, 17);
    await read('0', '1');
    assert.equal(readings, 18);
  });
});
