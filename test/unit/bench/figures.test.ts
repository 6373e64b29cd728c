/** The benchmark results in the documentation are generated from the stored figures, with which a run is compared. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isCurrent, resultText, shownFigures } from '../../../bench/documentation.ts';
import { regressionsOf, storedFigures, withFigures } from '../../../bench/figures.ts';
import type { Measurement } from '../../../bench/measurement.ts';

const ORIGIN = { version: '1.2.3', commit: 'abc1234', date: '2026-01-02', machine: '2 cores' };
const TARGET = { kind: 'at most', value: 1.5 } as const;

/** Measures a ratio from 0.9 to 1.1 times the median. */
function measured(name: string, median: number, milliseconds = 10): Measurement {
  return {
    name,
    title: `Title of ${name}`,
    ratio: { min: 0.9 * median, median, max: 1.1 * median },
    target: TARGET,
    figures: { ms: milliseconds },
    figureTargets: { ms: { kind: 'at most', value: 20 } },
    reason: 'The emulator is slow.',
    faults: [],
  };
}

const STORED = withFigures([], ORIGIN, [measured('a', 1), measured('b', 2), measured('a', 1.2), measured('b', 2)]);

describe('results in the documentation', () => {
  it('agree with the stored figures', () => {
    const run = 'run: npm run bench -- --write';
    assert.ok(isCurrent('results', resultText(storedFigures())), `docs/benchmarks.md is outdated; ${run}`);
    assert.ok(isCurrent('figures', shownFigures(storedFigures())), `README.md is outdated; ${run}`);
  });

  it('are the only measured figures on the page of the benchmarks', () => {
    const page = readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8');
    const prose = page.replaceAll(/<!-- (\w+): written.*?<!-- \/\1 -->/gs, '');
    assert.deepEqual(prose.match(/\d\.\d+|\d ?(?:ms|µs|milliseconds|[KMG]i?B|%)(?!\w)/g) ?? [], []);
    assert.ok(prose.includes('## Measurements') && prose.length < page.length);
  });

  it('show the medians of two runs, the origin, and the missed targets with their reason', () => {
    const slow = measured('slow', 2, 30);
    const text = resultText(withFigures(STORED, ORIGIN, [slow, slow]));
    assert.match(text, /Muster 1\.2\.3 at commit abc1234, measured on 2026-01-02 on 2 cores:/);
    assert.match(
      text,
      /\| `a` \| 1, 1\.20 \| 0\.900 to 1\.32 \| at most 1\.5 \| Title of a\. ms: 10 \(target at most 20\) \|/,
    );
    assert.match(text, /^- `b`: ratio 2 and 2, target at most 1\.5\. The emulator is slow\.$/m);
    assert.match(
      text,
      /^- `slow`: ratio 2 and 2, target at most 1\.5; ms 30 and 30, target at most 20\. The emulator is slow\.$/m,
    );
    assert.doesNotMatch(text, /^- `a`/m);
  });
});

describe('stored figures', () => {
  it('are replaced only for measurements that two runs have measured without faults', () => {
    const later = { ...ORIGIN, commit: 'def5678' };
    const broken = { ...measured('b', 3), faults: ['a task was claimed twice'] };
    const now = withFigures(STORED, later, [measured('a', 1.1), measured('b', 3), measured('a', 1.1), broken]);
    const found = now.map(({ commit, runs: [{ name }] }) => `${name} at ${commit}`);
    assert.deepEqual(found, ['b at abc1234', 'a at def5678']);
  });

  it('show a regression only if a median exceeds all stored rounds, and both medians by 15 %', () => {
    const regressions = (now: Measurement, machine = ORIGIN.machine) => regressionsOf(now, STORED, machine);
    assert.deepEqual(regressions(measured('a', 1.3)), []);
    assert.deepEqual(regressions(measured('a', 1.37)), []);
    assert.deepEqual(regressions(measured('a', 1.4)), ['ratio 1.40 is worse than 1 and 1.20']);
    assert.deepEqual(regressions(measured('a', 0.1)), []);
    assert.deepEqual(regressions(measured('a', 1, 11)), []);
    assert.deepEqual(regressions(measured('a', 1, 12)), ['ms 12 is worse than 10 and 10']);
    assert.deepEqual(regressions(measured('a', 1, 12), 'another machine'), []);
    assert.deepEqual(regressions(measured('new', 9)), []);
  });
});
