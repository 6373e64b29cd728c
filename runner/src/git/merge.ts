/** Checks whether a branch merges into its base. Changes no branch, index or file: git only adds objects. */
import { ExecutionError } from './execute.ts';
import { type Git, GitError } from './git.ts';
import type { Base } from './start/base.ts';
import { type GitVersion, gitVersion, isBefore } from './version.ts';

/** First version of git with `merge-tree --write-tree`. */
const MERGE_TREE_SINCE: GitVersion = [2, 38];

export interface Merge {
  /** Name and commit of the branch that the merge would change. */
  readonly into: string;
  readonly base: string;
  readonly clean: boolean;
  /** Paths with conflicts. */
  readonly conflicts: readonly string[];
}

/** Returns whether this machine's git can check merges. */
export async function canCheckMerges(): Promise<boolean> {
  const version = await gitVersion(process.env);
  return version === undefined || !isBefore(version, MERGE_TREE_SINCE);
}

/**
 * @param work branch of the work, and its commit
 * @returns undefined if git is too old, or if the base is not another branch
 * @throws GitError if git fails, for example because the branches have no common commit
 */
export async function checkMerge(
  git: Git,
  { branch: into, sha: base }: Base,
  work: { readonly branch: string; readonly commit: string },
): Promise<Merge | undefined> {
  if (into === undefined || into === work.branch || !(await canCheckMerges())) return undefined;
  const options = ['--write-tree', '--name-only', '-z', '--no-messages'];
  const conflicts = await git('merge-tree', ...options, base, work.commit).then(() => undefined, conflictsIn);
  return { into, base, clean: conflicts === undefined, conflicts: conflicts ?? [] };
}

/** Returns the paths that git prints after the tree if there are conflicts. Its exit code is 1 then. */
function conflictsIn(error: unknown): readonly string[] {
  const cause = error instanceof GitError ? error.cause : undefined;
  if (!(cause instanceof ExecutionError) || cause.exitCode !== 1) throw error;
  return cause.output.split('\0').slice(1).filter(Boolean);
}
