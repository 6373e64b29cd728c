import assert from 'node:assert/strict';
import { chooseSuites, suites } from '../../../scripts/tests/suites.mjs';

describe('the arguments of npm test', () => {
  it('choose everything where there are none', () => {
    const chosen = suites.filter(({ name }) => name !== 'real');
    assert.deepEqual(chooseSuites([]), { chosen, everything: true, mochaOptions: [] });
  });

  it('choose what asks real services only where they name it', () => {
    assert.deepEqual(
      chooseSuites(['real']).chosen.map(({ specs }) => specs),
      ['test/real'],
    );
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
    assert.deepEqual(chooseSuites(['--grep', 'tasks']).chosen, chooseSuites([]).chosen);
  });

  it('name the suites where one is not known', () => {
    assert.throws(
      () => chooseSuites(['units']),
      /unit, stored, contract, rtdb-lite, runner, rules, integration, attack, e2e, real/,
    );
  });
});
