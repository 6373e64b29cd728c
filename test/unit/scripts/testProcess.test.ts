/** A test process does not affect later tests and later runs. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { setVariable } from '../../support/environment.ts';

describe('test process', () => {
  it('does not let a test replace process.env, which native code reads', () =>
    assert.throws(() => {
      process.env = { ...process.env };
    }, TypeError));

  it('lets a test set and remove an environment variable', () => {
    setVariable('MUSTER_UNKNOWN', 'set');
    assert.equal(process.env['MUSTER_UNKNOWN'], 'set');
    setVariable('MUSTER_UNKNOWN', undefined);
    assert.equal('MUSTER_UNKNOWN' in process.env, false);
  });

  it('creates temporary files in the folder that is deleted with the run', () =>
    assert.match(basename(tmpdir()), /^muster-test-/));
});
