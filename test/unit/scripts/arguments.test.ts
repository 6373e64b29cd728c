import assert from 'node:assert/strict';
import { choose, help } from '../../../scripts/tests/arguments.mjs';
import { suites } from '../../../scripts/tests/suites.mjs';

describe('the arguments of npm test', () => {
  it('choose everything where there are none', () => {
    const chosen = suites.filter(({ name }) => name !== 'real');
    assert.deepEqual(choose([]), {
      chosen,
      everything: true,
      nightly: false,
      recordTimes: false,
      help: false,
      mochaOptions: [],
    });
  });

  it('choose what asks real services only where they name it', () => {
    assert.deepEqual(
      choose(['real']).chosen.map(({ specs }) => specs),
      ['test/real'],
    );
  });

  it('choose suites by name and spec files by path', () => {
    const { chosen, everything } = choose(['unit', './test/e2e/http.test.ts']);
    assert.equal(everything, false);
    assert.deepEqual(
      chosen.map(({ specs, emulators }) => ({ specs, emulators })),
      [
        { specs: 'test/unit', emulators: false },
        { specs: 'test/e2e/http.test.ts', emulators: true },
      ],
    );
  });

  it('leave options to mocha', () => {
    assert.deepEqual(choose(['rules', '--grep', 'tasks']).mochaOptions, ['--grep', 'tasks']);
    assert.deepEqual(choose(['--grep', 'tasks']).chosen, choose([]).chosen);
    assert.equal(choose(['--grep', 'tasks']).everything, false);
  });

  it('have options of their own, which may stand anywhere', () => {
    const { chosen, nightly, recordTimes, mochaOptions } = choose([
      ...['--nightly', 'rules', '--grep', 'tasks', '--record-times'],
    ]);
    assert.deepEqual(
      { names: chosen.map(({ name }) => name), nightly, recordTimes, mochaOptions },
      { names: ['rules'], nightly: true, recordTimes: true, mochaOptions: ['--grep', 'tasks'] },
    );
    assert.equal(choose(['--nightly']).everything, true);
  });

  it('mean the night where they name a file of its', () => {
    assert.equal(choose(['test/e2e/busyMachine.nightly.ts']).nightly, true);
  });

  it('name the suites where one is not known', () => {
    assert.throws(
      () => choose(['units']),
      /unit, stored, contract, rtdb-lite, views, runner, start, rules, integration, signin, attack, e2e, real/,
    );
  });

  it('are explained, with every suite', () => {
    for (const { name, specs } of suites) assert.match(help(), new RegExp(` ${name} +${specs}\\b`));
  });
});
