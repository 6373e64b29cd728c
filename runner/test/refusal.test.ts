/** Classification of git's errors. The error texts are those of git 2.39 to 2.47. */
import assert from 'node:assert/strict';
import { GitError } from '../src/git/git.ts';
import { isLocked } from '../src/git/refusal.ts';

describe('an error of git', () => {
  for (const [kind, message] of [
    [
      'transient',
      "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process seems to be running",
    ],
    ['transient', "cannot lock ref 'refs/heads/a': Unable to create '/r/.git/refs/heads/a.lock': File exists."],
    ['transient', "error: cannot lock ref 'refs/heads/a': is at 1111 but expected 2222"],
    ['transient', 'fatal: write error: No space left on device'],
    ['transient', "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com"],
    ['transient', 'ssh: connect to host github.com port 22: Connection timed out'],
    ['transient', 'fatal: early EOF\nfatal: fetch-pack: invalid index-pack output'],
    ['transient', 'git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.'],
    ['transient', "fatal: Authentication failed for 'https://github.com/a/b/'"],
    ['transient', "fatal: could not read Username for 'https://github.com': terminal prompts disabled"],
    ['transient', "fatal: '/mnt/share/a.git' does not appear to be a git repository"],
    ['transient', 'error: unable to read sha1 file: Input/output error'],
    ['transient', ' ! [rejected]        a -> a (non-fast-forward)'],
    ['transient', ' ! [rejected]        a -> a (fetch first)'],
    ['transient', 'git fetch: timed out after 10 minutes'],
    ['transient', 'a refusal that no version of git has had so far'],
    ['busy', "fatal: 'a' is already checked out at '/w/a'"],
    ['busy', "fatal: 'a' is already used by worktree at '/w/a'"],
    ['busy', "fatal: refusing to fetch into branch 'refs/heads/a' checked out at '/w/a'"],
    ['busy', "fatal: cannot force update the branch 'a' used by worktree at '/w/a'"],
    ['busy', "fatal: a branch named 'a' already exists"],
    ['busy', "fatal: cannot lock ref 'refs/heads/a': reference already exists"],
    ['permanent', "fatal: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'"],
    ['permanent', "error: cannot lock ref 'refs/heads/a': there is a non-empty directory '.git/refs/heads/a'"],
    ['permanent', ' ! [remote rejected] a -> a (directory file conflict)'],
    ['permanent', ' ! [remote rejected] a -> a (pre-receive hook declined)'],
    ['permanent', ' ! [remote rejected] main -> main (protected branch hook declined)'],
    ['permanent', "fatal: 'a..b' is not a valid branch name"],
    ['permanent', "fatal: not a valid object name: 'nope'"],
  ] as const)
    it(`is ${kind} if its text is ${JSON.stringify(message)}`, () => assert.equal(new GitError(message).kind, kind));

  it('counts as a lock only if another process holds a lock file for a short time', () => {
    assert.equal(isLocked("Unable to create '/r/.git/index.lock': File exists."), true);
    for (const other of ["'refs/heads/a' exists; cannot create 'refs/heads/a/b'", 'is at 1111 but expected 2222'])
      assert.equal(isLocked(`fatal: cannot lock ref 'refs/heads/a/b': ${other}`), false);
  });
});
