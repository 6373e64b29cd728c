/** Checks out and finds the submodules of a worktree. Git leaves their folders empty in a new worktree. */
import { existsSync } from 'node:fs';
import { type Checkout, gitAt } from '../checkout.ts';
import { type Git, GitError, gitIn } from '../git.ts';

/** Ref in a submodule that names the commit at which the submodule was when the task started. */
export const FOUND_REF = 'refs/muster/found';

/**
 * Makes git treat every submodule as initialized. `git submodule init` has the same effect, but writes to the
 * configuration of the user's repository.
 */
const ACTIVE = ['submodule.active=.'];

/** Fetches and checks out a branch's submodules. Returns a sentence with the reason for each missing submodule. */
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

/** Returns the paths in the index that `.gitmodules` lists as submodules. Omits paths that only that file has. */
export async function submodulesOf(folder: string, git: Git): Promise<readonly string[]> {
  return existsSync(`${folder}/.gitmodules`) ? gitlinks(git) : [];
}

/** Returns the paths of submodules that an agent added, both to the index and to `.gitmodules`. */
export async function addedSubmodules(checkout: Checkout): Promise<readonly string[]> {
  const file = `${checkout.folder}/.gitmodules`;
  if (!existsSync(file)) return [];
  const git = gitAt(checkout);
  const keys = String.raw`^submodule\..*\.path$`;
  const listed = await git('config', '--file', file, '--null', '--get-regexp', keys).catch(() => '');
  const paths = listed.split('\0').map((entry) => entry.slice(entry.indexOf('\n') + 1));
  const links = await gitlinks(git).catch(() => []); // The command fails if the index is corrupt.
  return links.filter((path) => paths.includes(path));
}

/** Returns the paths whose index entry is a commit of another repository. */
export async function gitlinks(git: Git): Promise<readonly string[]> {
  const listed = await git('ls-files', '--stage', '-z');
  return listed.split('\0').flatMap((entry) => /^160000 \w+ \d\t(.+)$/s.exec(entry)?.[1] ?? []);
}
