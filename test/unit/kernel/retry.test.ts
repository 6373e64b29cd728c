import assert from 'node:assert/strict';
import { StaleWriteError } from '../../../functions/src/kernel/commit.ts';
import { retryOnConflict } from '../../../functions/src/kernel/concurrency.ts';
import type { Randomness } from '../../../functions/src/kernel/ports.ts';
import { refusal } from '../../support/refusal.ts';

describe('retryOnConflict', () => {
  const bounds: number[] = [];
  const randomness: Randomness = {
    uuid: () => '',
    letters: () => '',
    secret: () => '',
    integer: (below) => {
      bounds.push(below);
      return 0;
    },
  };

  beforeEach(() => bounds.splice(0));

  it('repeats a commit after conflicts until the commit succeeds', async () => {
    const attempts: number[] = [];
    const result = await retryOnConflict(randomness, async (number) => {
      attempts.push(number);
      if (number < 3) throw new StaleWriteError();
      return 'through';
    });
    assert.equal(result, 'through');
    assert.deepEqual(attempts, [0, 1, 2, 3]);
  });

  it('waits longer before each retry, up to a maximum', async () => {
    await refusal(() => retryOnConflict(randomness, () => Promise.reject(new StaleWriteError())));
    const [shortest = 0, longest = 0] = [bounds[0], bounds.at(-1)];
    const expected = bounds.toSorted((a, b) => a - b);
    assert.deepEqual(bounds, expected);
    assert.ok(shortest > 0 && longest > 10 * shortest, 'frequent conflicts wait longer');
    assert.ok(bounds.reduce((sum, bound) => sum + bound, 0) < 10_000, 'all waits together fit into a call');
  });

  it('throws CONFLICT with the reason CONTENTION after the last retry', async () => {
    const error = await refusal(() => retryOnConflict(randomness, () => Promise.reject(new StaleWriteError())));
    assert.deepEqual([error.code, error.details.reason], ['CONFLICT', 'CONTENTION']);
    assert.equal(bounds.length, 25);
  });

  it('does not retry after an error that is not a conflict', async () => {
    let attempts = 0;
    const broken = retryOnConflict(randomness, () => {
      attempts++;
      return Promise.reject(new Error('broken'));
    });
    await assert.rejects(broken, /^Error: broken$/);
    assert.equal(attempts, 1);
  });
});
