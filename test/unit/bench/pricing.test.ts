/** Monthly cost of a deployment, computed from a day whose operations can be added up by hand. */
import assert from 'node:assert/strict';
import { monthOf, openAllMonth } from '../../../bench/pricing/model.ts';
import type { DayBill } from '../../../bench/simulation/day.ts';

const DAY: DayBill = {
  calls: 100,
  beats: 80,
  firestore: { reads: 200, writes: 100, deletes: 10 },
  realtime: { writes: 100, bytesDown: 10_000 },
  triggers: 20,
  logged: { entries: 20, bytes: 4000 },
  checks: 8,
  claimReads: 5,
  idleSweep: { reads: 10, writes: 0, deletes: 0 },
};

describe('monthly cost of a deployment', () => {
  it('consists only of the fixed costs if few agents are active', () => {
    const { parts, total } = monthOf(DAY, 1);
    const found = Object.entries(parts).filter(([, dollars]) => dollars > 0);
    assert.deepEqual(found, [['Fixed', parts.Fixed]]);
    assert.equal(total, parts.Fixed);
  });

  it('includes the writes and deletes that exceed the free quota', () => {
    const few = { ...DAY, firestore: { reads: 0, writes: 100, deletes: 10 }, calls: 0, checks: 0 };
    const { parts } = monthOf({ ...few, idleSweep: { reads: 0, writes: 0, deletes: 0 } }, 1000);
    const written = (100 * 1000 * 30 - 600_000) * (0.09 / 100_000);
    assert.ok(Math.abs(parts.Firestore - written) < 1e-9, `${parts.Firestore}, not ${written}`);
  });

  it('grows slightly faster than the number of agents', () => {
    const [thousand, many] = [monthOf(DAY, 1000), monthOf(DAY, 1_000_000)];
    assert.ok(many.total > 500 * thousand.total, 'the free quota matters less at scale');
    assert.ok(many.instances > thousand.instances);
    assert.equal(Math.round(many.callsASecond / thousand.callsASecond), 1000);
  });

  it('includes the processor time and memory that a permanently open request uses', () => {
    const [vcpu, memory] = [(2_592_000 - 180_000) * 0.000024, (1_296_000 - 360_000) * 0.0000025];
    assert.ok(Math.abs(openAllMonth() - vcpu - memory) < 1e-9);
  });
});
