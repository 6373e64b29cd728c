/** Rebuild of the stored bundle from its commit, if the commit and its packages are available here. */
import assert from 'node:assert/strict';
import { bundleOf, commitOf, otherPackages, rulesOf } from '../../../scripts/setup/buildRelease.mjs';
import { readRelease } from '../../../scripts/setup/releases.mjs';

describe('the stored bundle of the last release', () => {
  it('equals the build of its commit', async function () {
    const { commit, files, rules } = readRelease();
    if (!isHere(commit) || otherPackages(commit).length > 0) return this.skip();
    assert.deepEqual(rules, rulesOf(commit));
    assert.deepEqual(await bundleOf(commit), files);
  });
});

/** Returns whether the clone has the commit. A shallow clone only has the latest one. */
function isHere(commit: string): boolean {
  try {
    return commitOf(commit) === commit;
  } catch {
    return false;
  }
}
