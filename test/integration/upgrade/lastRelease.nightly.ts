/** The stored bundle is what its commit builds, if both the commit and the packages of that time are here. */
import assert from 'node:assert/strict';
import { bundleOf, commitOf, otherPackages, rulesOf } from '../../../scripts/setup/buildRelease.mjs';
import { readRelease } from '../../../scripts/setup/releases.mjs';

describe('the stored bundle of the last release', () => {
  it('is what its commit builds', async function () {
    const { commit, files, rules } = readRelease();
    if (!isHere(commit) || otherPackages(commit).length > 0) return this.skip();
    assert.deepEqual(rules, rulesOf(commit));
    assert.deepEqual(await bundleOf(commit), files);
  });
});

/** A shallow clone has the latest commit alone. */
function isHere(commit: string): boolean {
  try {
    return commitOf(commit) === commit;
  } catch {
    return false;
  }
}
