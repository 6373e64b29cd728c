/** The generated reference and the recorded snapshots contain everything that clients can see of each tool. */
import assert from 'node:assert/strict';
import { staleFiles } from '../../scripts/reference/files.ts';
import { entries } from './catalog.ts';

describe('generated reference', () => {
  it('matches the tools in the source code (npm run reference updates the pages)', () => {
    const stale = staleFiles().map(({ path }) => path);
    assert.deepEqual(stale, []);
  });

  for (const { name, input, output } of entries)
    it(`lists every argument and every output field of ${name}`, () => {
      for (const schema of [input, output]) assert.equal(schema['additionalProperties'], false);
    });
});
