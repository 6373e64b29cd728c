/** A task's branch in a worktree of its own, outside of the user's checkout. */
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Git, GitError, gitIn, succeeds } from './git.ts';
import type { Repository } from './repository.ts';

/** Another attempt at the same task, which is just being stopped, may have the branch still. */
const BRANCH_PATIENCE_MS = 60_000;
const BETWEEN_LOOKS_MS = 500;

export interface Worktree {
  readonly folder: string;
  readonly branch: string;
  readonly git: Git;
  /** The commit that the branch was at. */
  readonly startedAt: string;
  /** Whether the branch was there before. */
  readonly existed: boolean;
}

export interface WorktreeWishes {
  readonly folder: string;
  readonly branch: string;
  /** The commit that the branch starts from where it is not there yet. */
  readonly base: string;
  /** Fetch the branch from "origin" first. */
  readonly fetch: boolean;
  /** Worktrees below it are runners': a branch in one of them will be free soon. */
  readonly ownFolder: string;
}

/** @throws GitError where the branch is in use elsewhere or cannot be one */
export async function openWorktree(repository: Repository, wishes: WorktreeWishes): Promise<Worktree> {
  const { git } = repository;
  const { folder, branch } = wishes;
  await git('check-ref-format', '--branch', branch).catch(() => {
    throw new GitError(`"${branch}" cannot be the name of a branch.`);
  });
  if (wishes.fetch) await fetchBranch(git, branch);
  await waitForBranch(git, branch, wishes.ownFolder);
  mkdirSync(dirname(folder), { recursive: true });
  await removeWorktree(repository, folder);
  const existed = await succeeds(git, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`);
  const how = existed ? [folder, branch] : ['--no-track', '-b', branch, folder, wishes.base];
  await git('worktree', 'add', '--quiet', ...how);
  const inside = gitIn(folder);
  return { folder, branch, git: inside, startedAt: await inside('rev-parse', 'HEAD'), existed };
}

/** Takes the branch over from "origin" where that is ahead of ours or we have none. */
async function fetchBranch(git: Git, branch: string): Promise<void> {
  // Git refuses to move a branch that would lose commits, or that is checked out: then ours is as good.
  await succeeds(git, 'fetch', '--quiet', 'origin', `refs/heads/${branch}:refs/heads/${branch}`);
}

async function waitForBranch(git: Git, branch: string, ownFolder: string): Promise<void> {
  for (const deadline = Date.now() + BRANCH_PATIENCE_MS; ; await delay(BETWEEN_LOOKS_MS)) {
    await git('worktree', 'prune');
    const user = await folderOf(git, branch);
    if (user === undefined) return;
    const own = existsSync(ownFolder) && user.startsWith(`${realpathSync(ownFolder)}/`);
    if (!own || Date.now() > deadline)
      throw new GitError(`The branch "${branch}" is checked out in ${user}, which is left alone.`);
  }
}

/** The worktree that has the branch. */
async function folderOf(git: Git, branch: string): Promise<string | undefined> {
  const listed = await git('worktree', 'list', '--porcelain');
  const blocks = listed.split('\n\n').map((block) => block.split('\n'));
  const block = blocks.find((lines) => lines.includes(`branch refs/heads/${branch}`));
  return block?.[0]?.replace(/^worktree /, '');
}

/** Removes the folder, whether git knows it or not. The branch stays. */
export async function removeWorktree({ git }: Repository, folder: string): Promise<void> {
  await succeeds(git, 'worktree', 'remove', '--force', '--force', folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  await git('worktree', 'prune');
}
