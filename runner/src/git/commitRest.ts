/** What the agent left uncommitted goes to the task's branch, and never to another. */
import { type Git, GitError, gitIn, succeeds } from './git.ts';
import type { Worktree } from './worktree.ts';

const FALLBACK_IDENTITY = {
  GIT_AUTHOR_NAME: 'Muster runner',
  GIT_AUTHOR_EMAIL: 'muster-runner@localhost',
  GIT_COMMITTER_NAME: 'Muster runner',
  GIT_COMMITTER_EMAIL: 'muster-runner@localhost',
};

/** Where changes are kept that do not fit onto the task's branch. */
export const KEPT_REF = 'refs/muster/kept';

/**
 * @returns the commit, if there was something to commit
 * @throws GitError where the changes were made on another branch and conflict with the task's; they are kept
 */
export async function commitRest(
  { folder, branch }: Pick<Worktree, 'folder' | 'branch'>,
  message: string,
): Promise<string | undefined> {
  const git = await committingIn(folder);
  const ref = `refs/heads/${branch}`;
  if ((await git('symbolic-ref', '--quiet', 'HEAD').catch(() => '')) !== ref)
    await returnTo(git, ref, message);
  return commitAll(folder, message);
}

/** Commits all that a checkout has, to whatever is checked out. @returns the commit, if there was something */
export async function commitAll(folder: string, message: string): Promise<string | undefined> {
  const git = await committingIn(folder);
  await git('add', '--all');
  if (await succeeds(git, 'diff', '--cached', '--quiet')) return undefined;
  // Signing may ask, as hooks may; the acceptance command is the place to check.
  await git('-c', 'commit.gpgsign=false', 'commit', '--quiet', '-m', message);
  return git('rev-parse', 'HEAD');
}

async function committingIn(folder: string): Promise<Git> {
  const git = gitIn(folder);
  const known = await succeeds(git, 'var', 'GIT_COMMITTER_IDENT');
  return known ? git : gitIn(folder, { set: FALLBACK_IDENTITY });
}

/** The agent has moved to another branch, which is left as it is. */
async function returnTo(git: Git, ref: string, message: string): Promise<void> {
  const elsewhere = await git('rev-parse', 'HEAD');
  if (await succeeds(git, 'merge-base', '--is-ancestor', ref, elsewhere)) {
    // It went on from the task's branch, which therefore only has to follow.
    await git('update-ref', ref, elsewhere);
    await git('symbolic-ref', 'HEAD', ref);
    return;
  }
  await git('add', '--all');
  const rest = await git('commit-tree', await git('write-tree'), '-p', elsewhere, '-m', message);
  await git('symbolic-ref', 'HEAD', ref);
  await git('reset', '--quiet', '--hard');
  if (await succeeds(git, 'diff', '--quiet', elsewhere, rest)) return;
  if (await succeeds(git, 'cherry-pick', '--no-commit', rest)) return;
  await git('reset', '--quiet', '--hard');
  const kept = `${KEPT_REF}/${rest.slice(0, 12)}`;
  await git('update-ref', kept, rest);
  throw new GitError(`What was left on another branch does not fit onto ${ref}. It is kept as ${kept}.`);
}
