import assert from 'node:assert/strict';
import { staleFiles } from '../../scripts/reference/files.ts';

describe('the reference', () => {
  it('is as the definitions are: npm run reference', () => {
    assert.deepEqual(
      staleFiles().map(({ path }) => path),
      [],
    );
  });
});
