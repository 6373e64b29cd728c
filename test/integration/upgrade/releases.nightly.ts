/** The bundles that are kept are what their commits build, where both the commits and the packages of then are here. */
import assert from 'node:assert/strict';
import { bundleOf, commitOf, otherPackages, rulesOf } from '../../../scripts/setup/buildRelease.mjs';
import { keptReleases, readRelease } from '../../../scripts/setup/releases.mjs';

describe('the releases that are kept', () => {
  for (const version of keptReleases())
    it(`has in ${version} what its commit builds`, async function () {
      const { commit, files, rules } = readRelease(version);
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
