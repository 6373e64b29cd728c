/** Points and axes of the charts on the screen Metrics, and times in messages. */
import assert from 'node:assert/strict';
import { pointsOf } from '../../../console/src/screens/metrics/points.ts';
import { LOCALE, withLocalTimes } from '../../../console/ui/format.ts';
import { niceEnd } from '../../../console/ui/ticks.ts';

const NOW = Date.UTC(2026, 10, 24, 12, 0, 30);
const counts = (calls: number) => ({ calls, failures: 0, milliseconds: 0, errors: {}, latencies: {} });
const stored = (calls: number, dollars = 0) => ({ all: counts(calls), tools: {}, dollars });
const callsOf = (points: ReturnType<typeof pointsOf>) =>
  points.filter((point) => point.counts.calls > 0).map((point) => [point.at.toISOString(), point.counts.calls]);

describe('message of the server', () => {
  it('has its UTC times in the time zone of the reader, and otherwise stays the same', () => {
    const form = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
    const [one, other] = ['2026-11-30T13:29:43.098Z', '2026-11-24T00:00:00Z'];
    const local = (time: string) => form.format(new Date(time));
    assert.equal(withLocalTimes(`From ${one} to ${other}.`), `From ${local(one)} to ${local(other)}.`);
    assert.equal(withLocalTimes('Version 2026-11 of T13:29'), 'Version 2026-11 of T13:29');
  });
});

describe('axis of values', () => {
  for (const [highest, end] of [
    [0, 1],
    [0.04, 0.04],
    [31, 40],
    [98, 100],
  ] as const)
    it(`ends at ${end} if the highest value is ${highest}`, () =>
      assert.equal(Number(niceEnd(highest, 4).end.toFixed(9)), end));
});

describe('points of the metrics', () => {
  it('are one for each minute of the last hour, also without calls, and none before', () => {
    const points = pointsOf(
      'hour',
      { '202611241200': stored(2), '202611241101': stored(3), '202611241100': stored(9) },
      NOW,
    );
    assert.equal(points.length, 60);
    assert.deepEqual(callsOf(points), [
      ['2026-11-24T11:01:00.000Z', 3],
      ['2026-11-24T12:00:00.000Z', 2],
    ]);
  });

  it('are one for each hour of the last day, with the sum of its minutes', () => {
    const points = pointsOf('day', { '202611241159': stored(2), '202611241101': stored(3) }, NOW);
    assert.equal(points.length, 24);
    assert.deepEqual(callsOf(points), [['2026-11-24T11:00:00.000Z', 5]]);
  });

  it('are one for each of 14 days, with its cost', () => {
    const points = pointsOf('fortnight', { '20261124': stored(2, 0.5), '20261111': stored(1, 2) }, NOW);
    assert.deepEqual(
      points.map(({ dollars }) => dollars),
      [2, ...Array.from({ length: 12 }, () => 0), 0.5],
    );
  });
});
