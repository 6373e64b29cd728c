/** The submodules of a worktree, which git leaves empty. */
import { existsSync } from 'node:fs';
import { type Checkout, gitAt } from '../checkout.ts';
import { type Git, GitError, gitIn } from '../git.ts';

/** In a submodule: the commit at which the task has found it. */
export const FOUND_REF = 'refs/muster/found';

/**
 * Has git take every submodule for one that was initialized: `git submodule init` would write to the configuration of
 * the user's repository.
 */
const ACTIVE = ['submodule.active=.'];

/** Fetches the submodules of a branch. @returns which are missing and why, a sentence each */
export async function checkOutSubmodules(checkout: Checkout): Promise<readonly string[]> {
  const { folder } = checkout;
  const missed: string[] = [];
  for (const path of await submodulesOf(folder, gitAt(checkout))) {
    try {
      const git = gitAt(checkout, { settings: ACTIVE });
      await git('submodule', 'update', '--recursive', '--quiet', '--', path);
      await gitIn(`${folder}/${path}`)('update-ref', FOUND_REF, 'HEAD');
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      missed.push(`The submodule "${path}" is missing. ${error.message}`);
    }
  }
  return missed;
}

/** Returns the paths of the index that are submodules according to `.gitmodules`, which can list others as well. */
export async function submodulesOf(folder: string, git: Git): Promise<readonly string[]> {
  return existsSync(`${folder}/.gitmodules`) ? gitlinks(git) : [];
}

/** Returns the paths of submodules that an agent has added: in its own index, and in `.gitmodules`. */
export async function addedSubmodules(checkout: Checkout): Promise<readonly string[]> {
  const file = `${checkout.folder}/.gitmodules`;
  if (!existsSync(file)) return [];
  const git = gitAt(checkout);
  const keys = String.raw`^submodule\..*\.path$`;
  const listed = await git('config', '--file', file, '--null', '--get-regexp', keys).catch(() => '');
  const paths = listed.split('\0').map((entry) => entry.slice(entry.indexOf('\n') + 1));
  const links = await gitlinks(git).catch(() => []); // a corrupt index
  return links.filter((path) => paths.includes(path));
}

/** Returns the paths of the index that stand for a commit of another repository. */
export async function gitlinks(git: Git): Promise<readonly string[]> {
  const listed = await git('ls-files', '--stage', '-z');
  return listed.split('\0').flatMap((entry) => /^160000 \w+ \d\t(.+)$/s.exec(entry)?.[1] ?? []);
}
