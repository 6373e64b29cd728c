/** A repository with a branch to check, and tasks whose command checks it. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { ClaimedTask, Ending } from '../../src/hub/hub.ts';
import { git, newRepository } from './folders.ts';
import { taskOf } from './localHub.ts';
import { installStandIn } from './standIn.ts';

export const CHECKED = 'feature/auth';

const reported = z.object({
  head: z.string().optional(),
  branch: z.string(),
  warnings: z.array(z.string()).default([]),
  acceptance: z.object({ command: z.string(), exitCode: z.number().optional(), output: z.string() }).optional(),
  merge: z
    .object({ into: z.string(), base: z.string(), clean: z.boolean(), conflicts: z.array(z.string()) })
    .optional(),
});

/** Returns the fields of a report that these tests check. */
export function reportOf(ending: Ending | undefined): z.output<typeof reported> {
  return reported.parse(ending?.result);
}

export function commandTask(id: string, command: string, more: Partial<ClaimedTask> = {}): ClaimedTask {
  return { ...taskOf(id), tool: 'COMMAND', instructions: '', branch: CHECKED, command, ...more };
}

/**
 * Creates `<folder>/repo` with a branch that changes `README.md` and adds `auth.txt`, and installs a coding agent.
 * @returns the path of the repository
 */
export function repositoryToCheck(folder: string): string {
  const repo = newRepository(`${folder}/repo`);
  commitOn(repo, CHECKED, { 'auth.txt': 'login\n', 'README.md': '# Theirs\n' });
  installStandIn(`${folder}/bin`, 'said("Done."); result();');
  return repo;
}

/** Commits files on a branch, in a separate worktree. Returns the commit. */
export function commitOn(repo: string, branch: string, files: Readonly<Record<string, string>>): string {
  const folder = `${repo}.${branch.replaceAll('/', '-')}`;
  const exists = git(repo, 'for-each-ref', `refs/heads/${branch}`) !== '';
  const how = exists ? ['--force', folder, branch] : ['-b', branch, folder];
  git(repo, 'worktree', 'add', '--quiet', ...how);
  for (const [path, text] of Object.entries(files)) writeFileSync(`${folder}/${path}`, text);
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'Work');
  git(repo, 'worktree', 'remove', '--force', folder);
  return git(repo, 'rev-parse', branch);
}

/** Returns the refs, worktrees and uncommitted changes of a repository, which a command run must not change. */
export function stateOf(repo: string): readonly string[] {
  return [git(repo, 'for-each-ref'), git(repo, 'worktree', 'list'), git(repo, 'status', '--porcelain')];
}
