/** The submodules of a worktree: git leaves them empty, and forgets them with it. */
import { existsSync } from 'node:fs';
import { commitAll, KEPT_REF } from './commitRest.ts';
import { type Git, GitError, gitIn } from './git.ts';

/** In a submodule: where the task has found it. */
const FOUND_REF = 'refs/muster/found';

interface Checkout {
  readonly folder: string;
  readonly git: Git;
}

/** Fetches what the branch has as submodules. @returns what could not be had, for people */
export async function checkOutSubmodules({ folder, git }: Checkout): Promise<readonly string[]> {
  const missed: string[] = [];
  for (const path of await submodulesOf({ folder, git })) {
    try {
      await git('submodule', 'update', '--init', '--recursive', '--quiet', '--', path);
      await gitIn(`${folder}/${path}`)('update-ref', FOUND_REF, 'HEAD');
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      missed.push(`The submodule "${path}" is missing. ${error.message}`);
    }
  }
  return missed;
}

/**
 * Commits in the submodules what was left there, and keeps in the repository itself what is in none of theirs: a
 * submodule of a worktree is gone with it.
 * @param into git in the repository that keeps it
 * @returns what was kept, or could not be, for people
 */
export async function keepSubmodules(
  { folder, git }: Checkout,
  message: string,
  into = git,
): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const path of await submodulesOf({ folder, git })) {
    const inside = `${folder}/${path}`;
    if (!existsSync(`${inside}/.git`)) continue;
    try {
      kept.push(...(await keepSubmodules({ folder: inside, git: gitIn(inside) }, message, into)));
      const ref = await keep(into, inside, message);
      if (ref !== undefined)
        kept.push(
          `The submodule "${path}" was changed. Its commit is kept as ${ref}: push it to where it belongs.`,
        );
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      kept.push(`What was changed in the submodule "${path}" could not be kept. ${error.message}`);
    }
  }
  return kept;
}

/** @returns the ref in the repository, where there is something that no remote of the submodule has */
async function keep(into: Git, folder: string, message: string): Promise<string | undefined> {
  const inside = gitIn(folder);
  await commitAll(folder, message);
  const found = await inside('rev-parse', '--verify', '--quiet', FOUND_REF).catch(() => undefined);
  const known = found === undefined ? ['--remotes'] : ['--remotes', found];
  if ((await inside('rev-list', '--max-count=1', 'HEAD', '--not', ...known)) === '') return undefined;
  const head = await inside('rev-parse', 'HEAD');
  const ref = `${KEPT_REF}/${head.slice(0, 12)}`;
  const how = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];
  await into('fetch', ...how, folder, `HEAD:${ref}`);
  return ref;
}

/** Their paths, from the index: what `.gitmodules` names beside is not there. */
async function submodulesOf({ folder, git }: Checkout): Promise<readonly string[]> {
  if (!existsSync(`${folder}/.gitmodules`)) return [];
  const listed = await git('ls-files', '--stage', '-z');
  return listed.split('\0').flatMap((entry) => /^160000 \w+ \d\t(.+)$/s.exec(entry)?.[1] ?? []);
}
