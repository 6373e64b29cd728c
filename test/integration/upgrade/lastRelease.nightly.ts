/** Rebuilds the stored release from its commit. Skipped if the commit or its package versions are not available. */
import assert from 'node:assert/strict';
import { bundleOf, commitOf, otherPackages, rulesOf } from '../../../scripts/setup/buildRelease.mjs';
import { readRelease } from '../../../scripts/setup/releases.mjs';

describe('the stored bundle of the last release', () => {
  it('is equal to a new build of its commit', async function () {
    const { commit, files, rules } = readRelease();
    if (!isHere(commit) || otherPackages(commit).length > 0) return this.skip();
    assert.deepEqual(rules, rulesOf(commit));
    assert.deepEqual(await bundleOf(commit), files);
  });
});

/** Returns whether this clone contains the commit. A shallow clone contains only the latest commit. */
function isHere(commit: string): boolean {
  try {
    return commitOf(commit) === commit;
  } catch {
    return false;
  }
}
