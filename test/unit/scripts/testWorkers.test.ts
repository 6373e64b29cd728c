/** Division of test files into batches, and distribution of the batches over test workers. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { batchesOf, inOrder } from '../../../scripts/tests/batches.mjs';
import { serialFiles, suites } from '../../../scripts/tests/suites.mjs';
import { secondsOfFiles, summary } from '../../../scripts/tests/summary.mjs';
import { runInWorkers } from '../../../scripts/tests/workers.mjs';

const [unit, rules, integration, endToEnd] = ['unit', 'rules', 'integration', 'e2e'].map((name) => {
  const suite = suites.find((one) => one.name === name);
  assert.ok(suite);
  return suite;
});
assert.ok(unit && rules && integration && endToEnd);

describe('batches of test files', () => {
  it('contain each file once, take about equally long, and start with the longest', () => {
    const files = Array.from({ length: 40 }, (_, index) => `${index}.test.ts`);
    const batches = batchesOf(rules, files, (file) => 1 + (Number.parseInt(file, 10) % 7));
    assert.deepEqual(batches.flatMap((batch) => batch.files).sort(), files.toSorted());
    const seconds = batches.map((batch) => batch.seconds);
    assert.ok(Math.max(...seconds) - Math.min(...seconds) <= 2, seconds.join());
    const expected = seconds.toSorted((one, other) => other - one);
    assert.deepEqual(seconds, expected);
  });

  it('consist of a single file if that file takes long', () => {
    const batches = batchesOf(rules, ['short', 'long', 'shorter'], (file) => (file === 'long' ? 240 : 1));
    assert.deepEqual(batches[0]?.files, ['long']);
    const files = batches.slice(1).flatMap((batch) => batch.files);
    assert.deepEqual(files, ['short', 'shorter']);
  });

  it('are smaller for isolated suites, and the files of a sequential suite are a single batch', () => {
    const files = Array.from({ length: 30 }, (_, index) => `${index}.test.ts`);
    const lengths = [rules, integration, endToEnd].map((suite) => batchesOf(suite, files, () => 9).length);
    assert.deepEqual(lengths, [3, 6, 1]);
  });

  it('do not exist if no files are selected', () => {
    const batches = batchesOf(rules, [], () => 1);
    assert.deepEqual(batches, []);
  });

  it('start with suites that need no emulators, and end with the shortest batch', () => {
    const of = (suite: typeof unit, seconds: number) => ({ suite, files: [], seconds });
    const ordered = inOrder([of(rules, 5), of(unit, 1), of(rules, 20), of(endToEnd, 3), of(unit, 9)]);
    const found = ordered.map(({ suite, seconds }) => `${suite.name} ${seconds}`);
    assert.deepEqual(found, ['unit 1', 'unit 9', 'e2e 3', 'rules 20', 'rules 5']);
  });
});

describe('parallel test workers', () => {
  it('run three jobs at a time, and each job once', async () => {
    let running = 0;
    let highest = 0;
    const done: string[] = [];
    await runInWorkers(
      ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, oneAtATime: false, emulators: true })),
      async ({ name }) => {
        highest = Math.max(highest, ++running);
        await turn();
        running -= 1;
        done.push(name);
      },
    );
    assert.deepEqual(done.sort(), ['a', 'b', 'c', 'd', 'e']);
    assert.equal(highest, 3);
  });

  it('never run two sequential jobs at the same time', async () => {
    const singles = new Set<string>();
    const done: string[] = [];
    const jobs = ['single 1', 'single 2', 'other 1', 'other 2', 'single 3'];
    await runInWorkers(
      jobs.map((name) => ({ name, oneAtATime: name.startsWith('single'), emulators: true })),
      async ({ name, oneAtATime }) => {
        if (oneAtATime) singles.add(name);
        assert.ok(singles.size <= 1);
        await turn();
        singles.delete(name);
        done.push(name);
      },
    );
    assert.deepEqual(done.sort(), jobs.toSorted());
  });

  it('run at most two jobs alongside a sequential job, plus one job that needs no emulators', async () => {
    const running = new Set<string>();
    const highest = { alongside: 0, booting: 0, after: 0 };
    const singles = ['single 1', 'single 2'];
    const light = ['light 1', 'light 2', 'light 3', 'light 4'];
    const others = Array.from({ length: 9 }, (_, index) => `other ${index}`);
    await runInWorkers(
      [...light, ...singles, ...others].map((name) => ({
        name,
        oneAtATime: singles.includes(name),
        emulators: !light.includes(name),
      })),
      async ({ name }) => {
        running.add(name);
        const isAny = (some: readonly string[]) => some.some((one) => running.has(one));
        const when = isAny(light) ? 'booting' : isAny(singles) ? 'alongside' : 'after';
        highest[when] = Math.max(highest[when], running.size);
        await turn();
        running.delete(name);
      },
    );
    assert.deepEqual(highest, { booting: 3, alongside: 2, after: 3 });
  });

  it('start no further job after the first failure', async () => {
    const fails = async () => {
      throw new Error('broken');
    };
    await assert.rejects(runInWorkers([{ oneAtATime: false, emulators: false }], fails), /broken/);
  });
});

describe('files of the sequential suites', () => {
  it('exist in the repository', () => {
    for (const file of Object.keys(serialFiles)) assert.ok(existsSync(file), file);
  });
});

describe('summary of npm test', () => {
  const passing = { passed: 2, failed: 0, failures: [] };
  const results = [
    { ...passing, seconds: { 'a.test.ts': 1.25, 'b.test.ts': 12 } },
    { passed: 0, failed: 1, failures: ['a thing works\nit did not'], seconds: { 'c.test.ts': 3 } },
  ];

  it('lists the slowest files and the total time, and ends with the failures', () => {
    assert.equal(
      summary(results, 75),
      `
The slowest files:
   12.0 s  b.test.ts
    3.0 s  c.test.ts
    1.3 s  a.test.ts

2 passed, 1 failed in 1 min 15 s

failed: a thing works
it did not
`,
    );
  });

  it('lists at most ten files', () => {
    const seconds = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}.test.ts`, index]));
    assert.equal(summary([{ ...passing, seconds }], 4).match(/\.test\.ts/g)?.length, 10);
  });

  it('is computed from the recorded duration of each file', () =>
    assert.equal(secondsOfFiles(results).get('c.test.ts'), 3));
});
