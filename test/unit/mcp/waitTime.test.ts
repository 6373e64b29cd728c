import assert from 'node:assert/strict';
import { deferred } from '../../../functions/src/kernel/concurrency.ts';
import { WaitTime } from '../../../functions/src/mcp/call.ts';

describe('WaitTime', () => {
  let now = 0;
  let time: WaitTime;

  beforeEach(() => {
    now = 1000;
    time = new WaitTime(() => now);
  });

  it('is zero if the call has not waited', () => {
    now += 100;
    assert.equal(time.milliseconds, 0);
  });

  it('is the sum of waits that follow each other', async () => {
    for (const length of [20, 30]) {
      const end = deferred();
      const wait = time.during(end.promise.then(() => length));
      now += length;
      end.resolve();
      assert.equal(await wait, length);
      now += 1000;
    }
    assert.equal(time.milliseconds, 50);
  });

  it('counts overlapping waits only once', async () => {
    const [first, second] = [deferred(), deferred()];
    const waits = [time.during(first.promise)];
    now += 10;
    waits.push(time.during(second.promise));
    now += 10;
    first.resolve();
    await waits[0];
    now += 10;
    second.resolve();
    await waits[1];
    now += 10;
    assert.equal(time.milliseconds, 30);
  });

  it('includes the elapsed part of a wait that has not ended, and the whole of a failed wait', async () => {
    const end = deferred();
    const wait = time.during(
      end.promise.then(() => {
        throw new Error('broken');
      }),
    );
    now += 10;
    assert.equal(time.milliseconds, 10);
    now += 10;
    end.resolve();
    await assert.rejects(wait, /broken/);
    now += 10;
    assert.equal(time.milliseconds, 20);
  });
});
