/** Finds the commit on which a command run checks a branch. It changes no ref: a fetch only adds objects. */
import { type Git, GitError, succeeds } from '../git.ts';
import type { Repository } from '../repository.ts';
import { type Base, commitOf, compare } from './base.ts';
import { diverged, requireName, resolveBase, type StartingPointWishes } from './startingPoint.ts';

export interface CheckedCommitWishes extends Pick<StartingPointWishes, 'branch' | 'base' | 'fetch' | 'signal'> {
  /** Commit of the branch to check; undefined for the last one. */
  readonly commit: string | undefined;
}

const FULL_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * @returns the commit to check, and the base of the branch
 * @throws GitError, permanent, if the branch or commit has an invalid name, or if the base does not exist
 * @throws GitError, transient, if this repository lacks the branch or the commit, or "origin" does not respond
 */
export async function findCheckedCommit(
  { git }: Repository,
  { branch, commit, base: name, fetch, signal }: CheckedCommitWishes,
): Promise<{ readonly commit: string; readonly base: Base }> {
  await requireName(git, branch);
  if (commit !== undefined && !FULL_SHA.test(commit))
    throw new GitError(`"${commit}" is not the full id of a commit.`, { kind: 'permanent' });
  const { base, origin } = await resolveBase(git, { base: name, branches: [branch], fetch, signal });
  const tip = await latest(git, branch, origin?.branches.get(branch));
  if (commit === undefined) return { commit: tip, base };
  if (!(await succeeds(git, 'merge-base', '--is-ancestor', commit, tip)))
    throw new GitError(`The branch "${branch}" does not contain the commit ${commit}.`, { kind: 'transient' });
  return { commit, base };
}

/** Returns the last commit of the branch, here or on "origin". */
async function latest(git: Git, branch: string, theirs: string | undefined): Promise<string> {
  const ours = await commitOf(git, `refs/heads/${branch}`);
  const known = ours ?? theirs;
  if (known === undefined) throw new GitError(`This repository has no branch "${branch}".`, { kind: 'transient' });
  if (ours === undefined || theirs === undefined) return known;
  const { ahead, behind } = await compare(git, ours, theirs);
  if (ahead > 0 && behind > 0) throw diverged(branch);
  return behind > 0 ? theirs : ours;
}
