import assert from 'node:assert/strict';
import { collidingClass } from '../../../eval/files.ts';

describe('colliding class of 40 tasks over 10 files', () => {
  it('has no overlapping work in the first 10 minutes, and reports every overlap', async () => {
    const { waiting, sharing } = await collidingClass();
    console.log(JSON.stringify({ waiting, sharing }));
    assert.deepEqual([waiting.tasks, sharing.tasks], [40, 40]);
    assert.equal(waiting.overlapping_in_first_10_minutes, 0);
    assert.ok(sharing.overlapping_in_first_10_minutes > 0);
    assert.deepEqual([waiting.overlaps_not_told, sharing.overlaps_not_told], [0, 0]);
    assert.ok(waiting.overlapping_minutes < sharing.overlapping_minutes);
  });
});
