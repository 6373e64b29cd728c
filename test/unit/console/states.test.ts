/** State of live data in the console: loading, live, stale or denied. */
import assert from 'node:assert/strict';
import { type Live, nextState } from '../../../console/src/live/states.ts';

const EARLIER = new Date(1000);
const NOW = new Date(2000);

describe('value that the console receives', () => {
  const hear = (before: Live<string>, isFresh: boolean) => nextState(before, 'new', isFresh, NOW);

  it('is live if the server has sent it, regardless of the previous state', () => {
    const states: Live<string>[] = [
      { state: 'loading' },
      { state: 'live', value: 'old' },
      { state: 'stale', value: 'old', asOf: EARLIER },
      { state: 'denied' },
      { state: 'failed', why: 'no' },
    ];
    for (const before of states) assert.deepEqual(hear(before, true), { state: 'live', value: 'new' });
  });

  it('is stale if it comes from the cache, and keeps the time when the connection was lost', () => {
    assert.deepEqual(hear({ state: 'live', value: 'old' }, false), { state: 'stale', value: 'new', asOf: NOW });
    assert.deepEqual(hear({ state: 'stale', value: 'old', asOf: EARLIER }, false), {
      state: 'stale',
      value: 'new',
      asOf: EARLIER,
    });
  });

  it('from the cache does not replace the state "denied"', () =>
    assert.deepEqual(hear({ state: 'denied' }, false), { state: 'denied' }));
});
