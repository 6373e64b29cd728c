import assert from 'node:assert/strict';
import { isBusy } from '../../../functions/src/toolsets/coordination/rules/openSession.ts';

const aged = (count: number, milliseconds: number): number[] =>
  Array.from({ length: count }, () => milliseconds);

describe('isBusy', () => {
  for (const { name, ages, spread, busy } of [
    {
      name: 'where each of its documents was written within a second',
      ages: aged(8, 900),
      spread: 8,
      busy: true,
    },
    { name: 'not where they were written some seconds ago', ages: aged(8, 1100), spread: 8, busy: false },
    { name: 'by the mean of all', ages: [...aged(7, 100), 7200], spread: 8, busy: true },
    { name: 'not by a few', ages: [...aged(7, 100), 7400], spread: 8, busy: false },
    { name: 'not where the wider spread is not in use yet', ages: aged(15, 10), spread: 16, busy: false },
    { name: 'where it is, as well', ages: aged(16, 10), spread: 16, busy: true },
    { name: 'not with a handful of tasks', ages: aged(3, 10), spread: 8, busy: false },
    { name: 'not where nothing was counted', ages: [], spread: 8, busy: false },
  ])
    it(name, () => assert.equal(isBusy(ages, spread), busy));
});
