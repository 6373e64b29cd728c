import assert from 'node:assert/strict';
import { isBusy } from '../../../functions/src/toolsets/coordination/rules/openSession.ts';

const aged = (count: number, milliseconds: number): number[] => Array.from({ length: count }, () => milliseconds);

describe('isBusy', () => {
  for (const { name, ages, spread, busy } of [
    { name: 'is true if each document was written within a second', ages: aged(8, 900), spread: 8, busy: true },
    { name: 'is false if the writes are over a second old', ages: aged(8, 1100), spread: 8, busy: false },
    { name: 'uses the mean age of all documents', ages: [...aged(7, 100), 7200], spread: 8, busy: true },
    { name: 'is false if only some are recent', ages: [...aged(7, 100), 7400], spread: 8, busy: false },
    { name: 'is false if a new shard is not in use yet', ages: aged(15, 10), spread: 16, busy: false },
    { name: 'is true with more shards in use', ages: aged(16, 10), spread: 16, busy: true },
    { name: 'is false with a handful of tasks', ages: aged(3, 10), spread: 8, busy: false },
    { name: 'is false if nothing was counted', ages: [], spread: 8, busy: false },
  ])
    it(name, () => assert.equal(isBusy(ages, spread), busy));
});
