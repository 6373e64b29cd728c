/** Opens and settles a task's worktree as an attempt does. */
import { mkdirSync } from 'node:fs';
import { type Settled, settle } from '../../src/git/keep/settle.ts';
import { checkOutSubmodules } from '../../src/git/keep/submodules.ts';
import type { Repository } from '../../src/git/repository.ts';
import { findStartingPoint } from '../../src/git/start/startingPoint.ts';
import { noteBefore, openWorktree, type Worktree } from '../../src/git/worktree.ts';

export interface Opened {
  readonly worktree: Worktree;
  /** Sentences about missing submodules. */
  readonly missed: readonly string[];
  /** Makes the worktree's contents reachable, as at the end of an attempt. */
  settle(message?: string): Promise<Settled>;
}

/** @param folder for worktrees and for the runner's files */
export async function openWork(repository: Repository, folder: string, branch: string, fetch = false): Promise<Opened> {
  const ownFolder = `${folder}/worktrees`;
  const name = branch.replaceAll('/', '-');
  const signal = new AbortController().signal;
  const wishes = { taskId: 't1', branch, base: 'HEAD', fetch, ownFolder, signal };
  const start = await findStartingPoint(repository, wishes);
  const worktree = await openWorktree(repository, { folder: `${ownFolder}/${name}`, ownFolder, ...start });
  const missed = await checkOutSubmodules(worktree);
  mkdirSync(`${folder}/record`, { recursive: true });
  const baseline = `${folder}/record/${name}.before`;
  const before = await noteBefore(worktree, baseline);
  const index = `${folder}/record/${name}`;
  return { worktree, missed, settle: (message = 'Rest\n') => settle({ worktree, before, baseline, index, message }) };
}
