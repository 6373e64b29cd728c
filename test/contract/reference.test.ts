/** The reference and the snapshots, which hold whole what clients see of each tool: no change to it goes unnoticed. */
import assert from 'node:assert/strict';
import { staleFiles } from '../../scripts/reference/files.ts';
import { entries } from './catalogue.ts';

describe('the reference', () => {
  it('is as the definitions are: npm run reference', () => {
    assert.deepEqual(
      staleFiles().map(({ path }) => path),
      [],
    );
  });

  for (const { name, input, output } of entries)
    it(`names every argument and field of ${name}`, () => {
      for (const schema of [input, output]) assert.equal(schema['additionalProperties'], false);
    });
});
