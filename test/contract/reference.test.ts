/** The reference and the snapshots contain everything that clients see of each tool. */
import assert from 'node:assert/strict';
import { staleFiles } from '../../scripts/reference/files.ts';
import { entries } from './catalog.ts';

describe('generated reference', () => {
  it('is up to date (npm run reference)', () => {
    assert.deepEqual(
      staleFiles().map(({ path }) => path),
      [],
    );
  });

  for (const { name, input, output } of entries)
    it(`lists every argument and field of ${name}`, () => {
      for (const schema of [input, output]) assert.equal(schema['additionalProperties'], false);
    });
});
