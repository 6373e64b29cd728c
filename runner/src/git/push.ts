/** A branch on its way to "origin", with the large files that Git LFS keeps beside it. */
import { type Git, succeeds } from './git.ts';

const ATTRIBUTES = ['.gitattributes', '**/.gitattributes'].map((pattern) => `:(glob)${pattern}`);

/**
 * Never forced: what somebody else has pushed meanwhile stays.
 * @throws GitError
 */
export async function pushBranch(git: Git, branch: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  // Git LFS sends them from a hook, which the runner's own git does not run.
  if (await hasLargeFiles(git, ref)) await git('lfs', 'push', 'origin', ref);
  await git('push', '--quiet', 'origin', `${ref}:${ref}`);
}

/** Whether Git LFS is set up here, and the branch has it keep files. */
async function hasLargeFiles(git: Git, ref: string): Promise<boolean> {
  if (!(await succeeds(git, 'config', '--get-regexp', String.raw`^filter\.lfs\.(process|clean)$`)))
    return false;
  return succeeds(git, 'grep', '--quiet', '--fixed-strings', 'filter=lfs', ref, '--', ...ATTRIBUTES);
}
