/** Finds the worktrees that use a branch. Git allows only one worktree per branch. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { GitError } from '../git.ts';
import type { Repository } from '../repository.ts';

/** Maximum wait for another runner's worktree. An attempt that is being stopped commits its work within this time. */
const PATIENCE_MS = 5000;
const BETWEEN_CHECKS_MS = 250;

export interface BranchHolder {
  readonly folder: string;
  /** Whether the folder is missing, for example because it is on a disk that is not mounted. */
  readonly isMissing: boolean;
}

/** Thrown if another worktree uses the branch. */
export class BranchBusy extends GitError {
  /** Whether a runner owns the worktree, so that the branch becomes available soon. */
  readonly isRunners: boolean;

  constructor(branch: string, { folder }: BranchHolder, isRunners: boolean) {
    super(`The branch "${branch}" is checked out in ${folder}. That folder was not changed.`, { kind: 'busy' });
    this.isRunners = isRunners;
  }
}

/** Returns the worktrees that have a branch checked out, or in which the branch is being rebased or bisected. */
export async function holdersOf({ git, commonDir }: Repository, branch: string): Promise<readonly BranchHolder[]> {
  const ref = `refs/heads/${branch}`;
  const blocks = (await git('worktree', 'list', '--porcelain')).split('\n\n');
  const main = blocks[0]?.split('\n')[0]?.replace(/^worktree /, '') ?? commonDir;
  const checkedOut = blocks.flatMap((block): readonly BranchHolder[] => {
    const lines = block.split('\n');
    const folder = lines[0]?.replace(/^worktree /, '') ?? '';
    if (!lines.includes(`branch ${ref}`)) return [];
    return [{ folder, isMissing: !existsSync(folder) || lines.some((line) => line.startsWith('prunable')) }];
  });
  const inProgress = [{ folder: main, state: commonDir }, ...linkedWorktrees(commonDir)].flatMap(({ folder, state }) =>
    refsInProgress(state).includes(ref) ? [{ folder, isMissing: !existsSync(folder) }] : [],
  );
  return [...checkedOut, ...inProgress];
}

/**
 * Ensures that no worktree uses the branch. Waits briefly for a worktree of a runner, but not for any other.
 * @param options.except worktree that may use the branch
 * @returns whether a missing worktree is registered for the branch, so that `git worktree add` needs `--force`
 * @throws BranchBusy if another worktree uses the branch
 */
export async function requireFree(
  repository: Repository,
  branch: string,
  { ownFolder, except, signal }: { ownFolder: string; except?: string; signal?: AbortSignal },
): Promise<{ readonly isRegistered: boolean }> {
  for (const deadline = performance.now() + PATIENCE_MS; ; ) {
    const holders = await holdersOf(repository, branch);
    const holder = holders.find(({ folder, isMissing }) => !isMissing && folder !== except);
    if (holder === undefined) return { isRegistered: holders.some(({ isMissing }) => isMissing) };
    const isRunners = isBelow(ownFolder, holder.folder);
    const canWait = isRunners && signal !== undefined && !signal.aborted && performance.now() < deadline;
    if (!canWait) throw new BranchBusy(branch, holder, isRunners);
    await delay(BETWEEN_CHECKS_MS, undefined, { signal }).catch(() => undefined);
  }
}

const turns = new WeakMap<Repository, Promise<unknown>>();

/** Runs the actions of a repository one at a time, because git does not check and add a worktree atomically. */
export function serially<T>(repository: Repository, action: () => Promise<T>): Promise<T> {
  const turn = (turns.get(repository) ?? Promise.resolve()).then(action);
  turns.set(
    repository,
    turn.catch(() => undefined),
  );
  return turn;
}

function isBelow(ownFolder: string, folder: string): boolean {
  return existsSync(ownFolder) && folder.startsWith(`${realpathSync(ownFolder)}/`);
}

function linkedWorktrees(common: string): readonly { folder: string; state: string }[] {
  const worktrees = `${common}/worktrees`;
  if (!existsSync(worktrees)) return [];
  return readdirSync(worktrees).map((name) => {
    const state = `${worktrees}/${name}`;
    // Git 2.48 and later can write a relative path to this file, with `worktree.useRelativePaths`.
    return { folder: dirname(resolve(state, textOf(`${state}/gitdir`))), state };
  });
}

/** Returns the branches of a rebase or bisection in progress. HEAD is then detached, but git still needs them. */
function refsInProgress(state: string): readonly string[] {
  const rebased = ['rebase-merge/head-name', 'rebase-apply/head-name', 'rebase-merge/update-refs'];
  const bisected = textOf(`${state}/BISECT_START`);
  return [...rebased.flatMap((name) => textOf(`${state}/${name}`).split('\n')), `refs/heads/${bisected}`];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // The path does not exist, or was removed in the meantime.
  }
}
