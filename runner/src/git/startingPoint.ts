import { existsSync, realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Git, GitError, succeeds } from './git.ts';
import { type Base, type Repository, resolveBase } from './repository.ts';

export async function findStartingPoint(repository: Repository, wishes: { branch: string; base: string; fetch: boolean; ownFolder: string }): Promise<{ branch: string; existed: boolean; at: string; base: Base }> {
  const { git } = repository;
  const { branch } = wishes;
  const base = await resolveBase(repository, wishes.base);
  await git('check-ref-format', '--branch', branch).catch(() => {
    throw new GitError(`"${branch}" cannot be the name of a branch.`, { kind: 'permanent' });
  });
  if (wishes.fetch) await succeeds(git, 'fetch', '--quiet', 'origin', `refs/heads/${branch}:refs/heads/${branch}`);
  for (const deadline = Date.now() + 60_000; ; await delay(500)) {
    const user = await folderOf(git, branch);
    if (user === undefined) break;
    const own = existsSync(wishes.ownFolder) && user.startsWith(`${realpathSync(wishes.ownFolder)}/`);
    if (!own || Date.now() > deadline)
      throw new GitError(`The branch "${branch}" is checked out in ${user}, which is left alone.`, { kind: 'busy' });
  }
  const existed = await succeeds(git, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`);
  return { branch, existed, at: existed ? await git('rev-parse', `refs/heads/${branch}`) : base.sha, base };
}
async function folderOf(git: Git, branch: string): Promise<string | undefined> {
  const listed = await git('worktree', 'list', '--porcelain');
  const blocks = listed.split('\n\n').map((block) => block.split('\n'));
  const block = blocks.find((lines) => lines.includes(`branch refs/heads/${branch}`));
  return block?.[0]?.replace(/^worktree /, '');
}
