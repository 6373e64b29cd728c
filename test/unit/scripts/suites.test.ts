import assert from 'node:assert/strict';
import { chooseSuites, suites } from '../../../scripts/tests/suites.mjs';

describe('the arguments of npm test', () => {
  it('choose everything where there are none', () => {
    assert.deepEqual(chooseSuites([]), { chosen: suites, everything: true, mochaOptions: [] });
  });

  it('choose suites by name and spec files by path', () => {
    const { chosen, everything } = chooseSuites(['unit', './test/e2e/http.test.ts']);
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
    assert.deepEqual(chooseSuites(['rules', '--grep', 'tasks']).mochaOptions, ['--grep', 'tasks']);
    assert.equal(chooseSuites(['--grep', 'tasks']).chosen, suites);
  });

  it('name the suites where one is not known', () => {
    assert.throws(
      () => chooseSuites(['units']),
      /unit, stored, contract, rtdb-lite, runner, rules, integration, e2e/,
    );
  });
});
