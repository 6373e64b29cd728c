import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { filePath, headName, refName, repositoryName } from '../../../functions/src/toolsets/github/rules/names.ts';
import { inRuns } from '../../support/properties.ts';

const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'e', 'a', '\\', '?', '#', '\0', '\n', '@', '{', '~', ':') }),
);

/** Returns the path of a URL that contains the text, encoded by octokit. */
function pathOf(prefix: string, text: string): string {
  return new URL(`https://api.github.test${prefix}/${encodeURIComponent(text)}`).pathname;
}

function orRefused<T>(name: () => T): T | undefined {
  try {
    return name();
  } catch (error) {
    assert.ok(error instanceof MusterError && error.code === 'INVALID_FORMAT', String(error));
    return undefined;
  }
}

describe('name that a caller passes to GitHub', () => {
  it('stays within its segment of the URL or is rejected', () =>
    inRuns(2000).forAll(nasty, (text) => {
      for (const check of [filePath, refName, (repo: string) => repositoryName('a', repo).repo]) {
        const name = orRefused(() => check(text));
        if (name !== undefined) assert.equal(pathOf('/repos/a', name), `/repos/a/${encodeURIComponent(name)}`);
      }
    }));

  it('is accepted if Git and GitHub accept it', () => {
    for (const ref of ['main', 'feature/login', 'v1.0.0', 'renovate/a-b_c', 'ünï', 'a@b', 'a'.repeat(40)])
      assert.equal(refName(ref), ref);
    for (const path of ['README.md', '.github/workflows/ci.yml', 'a b/ç.txt', '...', '..a/b..', 'a?b#c%'])
      assert.equal(filePath(path), path);
    assert.deepEqual(repositoryName('sartor-ai', '.github'), { owner: 'sartor-ai', repo: '.github' });
    assert.deepEqual(headName('octocat:fix/a'), { owner: 'octocat', branch: 'fix/a' });
    assert.deepEqual(headName('fix/a'), { branch: 'fix/a' });
  });

  it('is rejected if Git rejects it', () => {
    for (const ref of ['', 'a..b', 'a b', '-a', 'a/', '/a', 'a//b', '.a', 'a/.b', 'a.lock', 'a@{1}', '@', 'a.', 'a:b'])
      assert.throws(() => refName(ref), MusterError, ref);
    for (const head of ['a:b:c', ':b', 'a/b:c', '../a:b']) assert.throws(() => headName(head), MusterError, head);
  });
});
