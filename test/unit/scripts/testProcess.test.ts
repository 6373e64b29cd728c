/** A process in which tests run: what one test leaves does not reach the next test, or the next run. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { setVariable } from '../../support/environment.ts';

describe('a process of tests', () => {
  it('keeps the environment that native code reads', () => {
    assert.throws(() => {
      process.env = { ...process.env };
    }, TypeError);
  });

  it('can set a variable and remove it again', () => {
    setVariable('MUSTER_UNKNOWN', 'set');
    assert.equal(process.env['MUSTER_UNKNOWN'], 'set');
    setVariable('MUSTER_UNKNOWN', undefined);
    assert.equal('MUSTER_UNKNOWN' in process.env, false);
  });

  it('has its temporary files in the folder that is removed with the run', () => {
    assert.match(basename(tmpdir()), /^muster-test-/);
  });
});
