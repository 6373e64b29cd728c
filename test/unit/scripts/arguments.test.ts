import assert from 'node:assert/strict';
import { choose, help } from '../../../scripts/tests/arguments.mjs';
import { suites } from '../../../scripts/tests/suites.mjs';

describe('arguments of npm test', () => {
  it('select every suite except "real" if no suite is named', () => {
    const chosen = suites.filter(({ name }) => name !== 'real');
    assert.deepEqual(choose([]), { chosen, everything: true, nightly: false, recordTimes: false, mochaOptions: [] });
  });

  it('select the suite "real" only if it is named', () => {
    const chosenSpecs = choose(['real']).chosen.map(({ specs }) => specs);
    assert.deepEqual(chosenSpecs, ['test/real']);
  });

  it('select suites by name, and spec files by path', () => {
    const { chosen, everything } = choose(['unit', './test/e2e/streams.test.ts']);
    assert.equal(everything, false);
    const rows = chosen.map(({ specs, emulators }) => ({ specs, emulators }));
    assert.deepEqual(rows, [
      { specs: 'test/unit', emulators: false },
      { specs: 'test/e2e/streams.test.ts', emulators: true },
    ]);
  });

  it('are passed to mocha if npm test does not know them', () => {
    assert.deepEqual(choose(['rules', '--grep', 'tasks']).mochaOptions, ['--grep', 'tasks']);
    assert.deepEqual(choose(['--grep', 'tasks']).chosen, choose([]).chosen);
    assert.equal(choose(['--grep', 'tasks']).everything, false);
  });

  it('may contain the options of npm test in any position', () => {
    const { chosen, nightly, recordTimes, mochaOptions } = choose([
      ...['--nightly', 'rules', '--grep', 'tasks', '--record-times'],
    ]);
    assert.deepEqual(
      { names: chosen.map(({ name }) => name), nightly, recordTimes, mochaOptions },
      { names: ['rules'], nightly: true, recordTimes: true, mochaOptions: ['--grep', 'tasks'] },
    );
    assert.equal(choose(['--nightly']).everything, true);
  });

  it('imply --nightly if they name a nightly spec file', () =>
    assert.equal(choose(['test/e2e/busyMachine.nightly.ts']).nightly, true));

  it('cause an error that lists the suites if they name an unknown suite', () =>
    assert.throws(
      () => choose(['units']),
      /unit, stored, contract, rtdb-lite, views, runner, start, rules, integration, signin, attack, bench, e2e, real/,
    ));

  it('are explained in the help, together with every suite', () => {
    for (const { name, specs } of suites) assert.match(help(), new RegExp(` ${name} +${specs}\\b`));
  });
});
