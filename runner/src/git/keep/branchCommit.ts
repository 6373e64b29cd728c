/** Brings the files of a worktree to the task's branch, wherever the agent has left HEAD and the branch. */
import { existsSync, readFileSync } from 'node:fs';
import { gitAt } from '../checkout.ts';
import { type Git, GitError, succeeds } from '../git.ts';
import type { Worktree } from '../worktree.ts';
import { commitTree } from './commitTree.ts';
import { keep } from './kept.ts';

export interface Work {
  /** The files of the worktree. */
  readonly tree: string;
  /** The commit at which the attempt started. */
  readonly startedAt: string;
  readonly message: string;
}

export interface Committed {
  /** The commit of the uncommitted files, if there were any. */
  readonly commit: string | undefined;
  /** Where the work ends. */
  readonly end: string;
  /** Whether the branch is there. It is not if another checkout has it. */
  readonly isOnBranch: boolean;
  /** Sentences about what was kept elsewhere than on the branch. */
  readonly notes: readonly string[];
}

type End = Pick<Committed, 'commit' | 'end' | 'notes'>;

/** @throws GitError if git refuses, for example because the branch has moved in the meantime */
export async function commitToBranch(worktree: Worktree, work: Work): Promise<Committed> {
  const git = gitAt(worktree);
  const ref = `refs/heads/${worktree.branch}`;
  const isSymbolic = await succeeds(git, 'symbolic-ref', '--quiet', ref);
  const existing = await commitOf(git, ref);
  // An agent can have made the branch another name of the user's: that one is not ours to move.
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
    const note = `${worktree.branch} is checked out elsewhere, and is left alone. The work is kept as ${kept}.`;
    return { commit, end, isOnBranch: false, notes: [...notes, note] };
  }
  const old = isSymbolic ? [] : [existing ?? '0'.repeat(end.length)];
  await git('update-ref', '--no-deref', ref, end, ...old);
  return { commit, end, isOnBranch: true, notes };
}

/** HEAD contains the branch: what is uncommitted comes after it. */
async function continued(worktree: Worktree, { tree, message }: Work, head: string): Promise<End> {
  const merged = mergedHeads(worktree.gitDir);
  if (merged.length === 0 && tree === (await treeOf(gitAt(worktree), head)))
    return { commit: undefined, end: head, notes: [] };
  const commit = await commitTree(worktree, tree, [head, ...merged], message);
  return { commit, end: commit, notes: [] };
}

/**
 * The agent has moved to a history of another branch. Only what is uncommitted there is the task's.
 * @param head undefined if there is no commit yet
 */
async function moved(
  worktree: Worktree,
  { tree, message }: Work,
  tip: string,
  head: string | undefined,
): Promise<End> {
  const git = gitAt(worktree);
  const unchanged = { commit: undefined, end: tip, notes: [] };
  if (tree === (await treeOf(git, head ?? tip))) return unchanged;
  const rest = await commitTree(worktree, tree, head === undefined ? [] : [head], message);
  const applied = head === undefined ? undefined : await appliedTo(worktree, tip, head, rest);
  if (applied === undefined) {
    const kept = await keep(git, rest);
    const note = `What was uncommitted on another branch does not fit onto ${worktree.branch}. It is kept as ${kept}.`;
    return { ...unchanged, notes: [note] };
  }
  if (applied === (await treeOf(git, tip))) return unchanged;
  const commit = await commitTree(worktree, applied, [tip], message);
  return { commit, end: commit, notes: [] };
}

/** @returns the tree of the branch with the changes of the rest, or undefined if they conflict */
async function appliedTo(
  worktree: Worktree,
  tip: string,
  head: string,
  rest: string,
): Promise<string | undefined> {
  const git = gitAt(worktree);
  // A merge whose base is the commit that the changes were made on: that is a cherry-pick.
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

/** Whether a checkout other than the worktree has the branch: an agent that leaves it makes it free for the user. */
async function isElsewhere(git: Git, { folder, branch }: Worktree): Promise<boolean> {
  const listed = await git('worktree', 'list', '--porcelain');
  return listed
    .split('\n\n')
    .map((block) => block.split('\n'))
    .some((lines) => lines.includes(`branch refs/heads/${branch}`) && lines[0] !== `worktree ${folder}`);
}
