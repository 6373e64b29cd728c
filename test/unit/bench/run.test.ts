/** A benchmark run reports the results of the other measurements if one measurement fails. */
import assert from 'node:assert/strict';
import type { Measurement } from '../../../bench/measurement.ts';
import { verdictText } from '../../../bench/report.ts';
import { type Benchmarks, Run } from '../../../bench/run.ts';

const measured = (name: string, faults: readonly string[] = []): Measurement => ({
  name,
  title: name,
  figures: {},
  faults,
});

function runOf(benchmarks: Benchmarks): { readonly run: Run; readonly reported: string[] } {
  const reported: string[] = [];
  const run = new Run({
    benchmarks,
    wanted: Object.keys(benchmarks),
    begins: (name) => reported.push(`begins ${name}`),
    regressions: ({ title }) => (title.startsWith('slow') ? ['ratio 3 is worse than 2 and 2'] : []),
    measured: ({ name, faults = [] }) => reported.push([name, ...faults].join(': ')),
  });
  return { run, reported };
}

const AT_MOST_8 = { kind: 'at most', value: 8 } as const;

describe('benchmark run', () => {
  const log = console.error;
  before(() => {
    console.error = () => {};
  });
  after(() => {
    console.error = log;
  });

  it('reports each measurement when it ends, and continues after a failed measurement', async () => {
    const { run, reported } = runOf({
      first: async () => [measured('first.a'), measured('first.b')],
      second: () => Promise.reject(new Error('invalid wire type 7')),
      third: async () => [measured('third', ['a task was claimed twice'])],
      fourth: async () => [measured('fourth')],
    });
    await run.toEnd();
    assert.deepEqual(reported, [
      ...['begins first', 'first.a', 'first.b'],
      ...['begins second', 'second: invalid wire type 7'],
      ...['begins third', 'third: a task was claimed twice'],
      ...['begins fourth', 'fourth'],
    ]);
    assert.deepEqual(run.verdict(), { pass: false, failed: ['second', 'third'], worse: [], missed: [], left: [] });
    assert.equal(verdictText(run.verdict()), 'failed: second, third');
  });

  it('lists the measurements that were not started', async () => {
    const { run } = runOf({ first: () => new Promise(() => {}), second: async () => [measured('second')] });
    void run.toEnd();
    run.breaks(new Error('an event handler broke'));
    assert.deepEqual(run.verdict(), { pass: false, failed: ['first'], worse: [], missed: [], left: ['second'] });
    assert.equal(verdictText(run.verdict()), 'failed: first\nnot measured: second');
  });

  it('fails if a measurement is worse than before, but not if it misses its target', async () => {
    const late: Measurement = { ...measured('late'), figures: { ms: 9 }, figureTargets: { ms: AT_MOST_8 } };
    const { run } = runOf({ slow: async () => [measured('slow')], late: async () => [late] });
    await run.toEnd();
    assert.deepEqual(run.verdict(), { pass: false, failed: [], worse: ['slow'], missed: ['late'], left: [] });
    assert.equal(verdictText(run.verdict()), 'worse than the stored figures: slow\ntargets missed: late');
    const { run: second } = runOf({ late: async () => [late] });
    await second.toEnd();
    assert.equal(second.verdict().pass, true);
  });

  it('fails if a target names a figure that was not measured', async () => {
    const lacking: Measurement = { ...measured('lacking'), figureTargets: { ms: AT_MOST_8 } };
    const { run } = runOf({ lacking: async () => [lacking] });
    await run.toEnd();
    assert.deepEqual(run.verdict().failed, ['lacking']);
  });

  it('succeeds if all measurements succeed', async () => {
    const { run } = runOf({ only: async () => [measured('only')] });
    await run.toEnd();
    assert.deepEqual(run.verdict(), { pass: true, failed: [], worse: [], missed: [], left: [] });
    assert.equal(verdictText(run.verdict()), 'all pass');
  });
});
