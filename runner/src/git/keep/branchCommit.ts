/** Commits a worktree's files to the task's branch, even if the agent has moved HEAD and the branch. */
import { existsSync, readFileSync } from 'node:fs';
import { gitAt } from '../checkout.ts';
import { type Git, GitError, succeeds } from '../git.ts';
import type { Worktree } from '../worktree.ts';
import { commitTree } from './commitTree.ts';
import { keep } from './kept.ts';

export interface Work {
  readonly tree: string;
  /** Commit at which the worktree was when the attempt started. */
  readonly startedAt: string;
  readonly message: string;
}

export interface Committed {
  /** Commit that the runner created for uncommitted files, if there were any. */
  readonly commit: string | undefined;
  /** Last commit of the agent's work, including the runner's commit. */
  readonly end: string;
  /** Whether `end` is on the branch. False if another checkout uses the branch. */
  readonly isOnBranch: boolean;
  /** Sentences that describe which work is kept outside the branch, and where. */
  readonly notes: readonly string[];
}

type End = Pick<Committed, 'commit' | 'end' | 'notes'>;

/** @throws GitError if git fails, for example because another process moved the branch at the same time */
export async function commitToBranch(worktree: Worktree, work: Work): Promise<Committed> {
  const git = gitAt(worktree);
  const ref = `refs/heads/${worktree.branch}`;
  const isSymbolic = await succeeds(git, 'symbolic-ref', '--quiet', ref);
  const existing = await commitOf(git, ref);
  // If the agent made the branch a symbolic ref to a branch of the user, that branch must not be moved.
  const tip = (isSymbolic ? undefined : existing) ?? work.startedAt;
  const isAtBranch = (await git('symbolic-ref', '--quiet', 'HEAD').catch(() => '')) === ref;
  const head = isAtBranch ? tip : await commitOf(git, 'HEAD');
  const follows =
    head !== undefined && (head === tip || (await succeeds(git, 'merge-base', '--is-ancestor', tip, head)));
  const { commit, end, notes } = follows
    ? await continued(worktree, work, head)
    : await moved(worktree, work, tip, head);
  if (!isSymbolic && end === existing) return { commit, end, isOnBranch: true, notes };
  if (await isElsewhere(git, worktree)) {
    const kept = await keep(git, end);
    const note = `${worktree.branch} is checked out elsewhere and was not changed. The work is kept as ${kept}.`;
    return { commit, end, isOnBranch: false, notes: [...notes, note] };
  }
  const old = isSymbolic ? [] : [existing ?? '0'.repeat(end.length)];
  await git('update-ref', '--no-deref', ref, end, ...old);
  return { commit, end, isOnBranch: true, notes };
}

/** Handles the case that HEAD contains the branch. The uncommitted files are committed on top of HEAD. */
async function continued(worktree: Worktree, { tree, message }: Work, head: string): Promise<End> {
  const merged = mergedHeads(worktree.gitDir);
  if (merged.length === 0 && tree === (await treeOf(gitAt(worktree), head)))
    return { commit: undefined, end: head, notes: [] };
  const commit = await commitTree(worktree, tree, [head, ...merged], message);
  return { commit, end: commit, notes: [] };
}

/**
 * Handles the case that HEAD does not contain the branch. Only the uncommitted files are part of the task.
 * @param head undefined if HEAD has no commit yet
 */
async function moved(worktree: Worktree, { tree, message }: Work, tip: string, head: string | undefined): Promise<End> {
  const git = gitAt(worktree);
  const unchanged = { commit: undefined, end: tip, notes: [] };
  if (tree === (await treeOf(git, head ?? tip))) return unchanged;
  const rest = await commitTree(worktree, tree, head === undefined ? [] : [head], message);
  const applied = head === undefined ? undefined : await appliedTo(worktree, tip, head, rest);
  if (applied === undefined) {
    const kept = await keep(git, rest);
    const note = `Uncommitted changes from another branch conflict with ${worktree.branch}. They are kept as ${kept}.`;
    return { ...unchanged, notes: [note] };
  }
  if (applied === (await treeOf(git, tip))) return unchanged;
  const commit = await commitTree(worktree, applied, [tip], message);
  return { commit, end: commit, notes: [] };
}

/** @returns the tree of the branch with the changes in `rest`, or undefined if these conflict with the branch */
async function appliedTo(worktree: Worktree, tip: string, head: string, rest: string): Promise<string | undefined> {
  const git = gitAt(worktree);
  // This is a cherry-pick, expressed as a merge. The merge base is the commit that the changes were made on.
  const ours = await commitTree(worktree, await treeOf(git, tip), [head], 'Base of a merge');
  const merged = await git('merge-tree', '--write-tree', ours, rest).catch((error: unknown) => {
    if (error instanceof GitError) return undefined;
    throw error;
  });
  return merged?.split('\n')[0];
}

function commitOf(git: Git, name: string): Promise<string | undefined> {
  return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(() => undefined);
}

function treeOf(git: Git, commit: string): Promise<string> {
  return git('rev-parse', `${commit}^{tree}`);
}

function mergedHeads(gitDir: string): readonly string[] {
  const file = `${gitDir}/MERGE_HEAD`;
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** Returns whether another checkout uses the branch. The user can check out a branch that the agent has left. */
async function isElsewhere(git: Git, { folder, branch }: Worktree): Promise<boolean> {
  const listed = await git('worktree', 'list', '--porcelain');
  return listed
    .split('\n\n')
    .map((block) => block.split('\n'))
    .some((lines) => lines.includes(`branch refs/heads/${branch}`) && lines[0] !== `worktree ${folder}`);
}
