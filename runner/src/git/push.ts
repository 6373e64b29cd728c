/** Pushes a branch to "origin", with its large files in Git LFS. */
import { type Git, GitError, succeeds } from './git.ts';
import { fetchRefs } from './start/remote.ts';

const ATTRIBUTES = ['.gitattributes', '**/.gitattributes'].map((pattern) => `:(glob)${pattern}`);

/** Options that push only the branch, regardless of the user's push settings. */
const BRANCH_ONLY = ['--quiet', '--no-follow-tags', '--recurse-submodules=no', '--no-signed'];

/**
 * Pushes a branch without force, so that commits that others have pushed to it are kept.
 * @throws GitError if "origin" lacks some of the branch's commits afterwards
 */
export async function pushBranch(git: Git, branch: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  try {
    // Git LFS normally sends large files in a hook, but the runner's git commands run no hooks.
    if (await hasLargeFiles(git, ref)) await git('lfs', 'push', 'origin', ref);
    await git('push', ...BRANCH_ONLY, 'origin', `${ref}:${ref}`);
  } catch (error) {
    if (!(error instanceof GitError) || !(await isOnOrigin(git, branch))) throw error;
  }
}

/** Returns whether the branch on "origin" contains all commits of the local branch. */
async function isOnOrigin(git: Git, branch: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  try {
    const origin = await fetchRefs(git, 'origin', ({ branches }) => (branches.has(branch) ? [ref] : []));
    const theirs = origin.branches.get(branch);
    return theirs !== undefined && (await succeeds(git, 'merge-base', '--is-ancestor', ref, theirs));
  } catch {
    return false; // The remote does not respond. The caller then reports the error of the push.
  }
}

/** Returns whether Git LFS is set up on this machine and stores files of the branch. */
async function hasLargeFiles(git: Git, ref: string): Promise<boolean> {
  if (!(await succeeds(git, 'config', '--get-regexp', String.raw`^filter\.lfs\.(process|clean)$`))) return false;
  return succeeds(git, 'grep', '--quiet', '--fixed-strings', 'filter=lfs', ref, '--', ...ATTRIBUTES);
}
