/** Opens and settles a task's worktree, as an attempt does. */
import { mkdirSync } from 'node:fs';
import { type Settled, settle } from '../../src/git/keep/settle.ts';
import { checkOutSubmodules } from '../../src/git/keep/submodules.ts';
import type { Repository } from '../../src/git/repository.ts';
import { findStartingPoint } from '../../src/git/start/startingPoint.ts';
import { noteBefore, openWorktree, type Worktree } from '../../src/git/worktree.ts';

export interface Opened {
  readonly worktree: Worktree;
  /** One sentence for each missing submodule. */
  readonly missed: readonly string[];
  /** Stores the contents of the worktree in git, as at the end of an attempt. */
  settle(message?: string): Promise<Settled>;
}

/** @param folder folder for worktrees and for the runner's own files */
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
