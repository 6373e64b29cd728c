/** Access to a checkout that the runner created, and checks that no one has replaced that checkout. */
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Git, gitIn } from './git.ts';

/** A checkout's folder and repository. All paths are absolute and contain no symbolic links. */
export interface Checkout {
  readonly folder: string;
  /** The checkout's own git directory, with HEAD, index and reflog. */
  readonly gitDir: string;
  /** Git directory that all checkouts of the repository share, with objects, branches and configuration. */
  readonly commonDir: string;
}

export interface CheckoutOptions {
  readonly index?: string;
  readonly input?: string;
  readonly settings?: readonly string[];
  readonly set?: Readonly<Record<string, string>>;
}

/**
 * Returns git bound to a checkout. It never searches for a repository. Otherwise, in a folder without `.git`, git
 * would find a repository in a parent folder.
 */
export function gitAt({ folder, gitDir, commonDir }: Checkout, options: CheckoutOptions = {}): Git {
  const { index, input, settings = [], set = {} } = options;
  return gitIn(existsSync(folder) ? folder : commonDir, {
    set: {
      GIT_DIR: gitDir,
      GIT_COMMON_DIR: commonDir,
      GIT_WORK_TREE: folder,
      ...(index !== undefined && { GIT_INDEX_FILE: index }),
      ...set,
    },
    settings,
    ...(input !== undefined && { input }),
  });
}

/**
 * Checks whether a linked worktree is still the one that the runner created. Compares the folder, its `.git` file,
 * the registration in the repository, and the repository that git finds from inside the folder.
 * @returns the first difference, worded as the predicate of a sentence about the checkout; undefined if none
 */
export async function deviationOf(checkout: Checkout): Promise<string | undefined> {
  const { folder, gitDir, commonDir } = checkout;
  try {
    if (!existsSync(folder)) return 'does not exist';
    if (!lstatSync(folder).isDirectory() || realpathSync(folder) !== folder) return 'was replaced by a link';
    const link = `${folder}/.git`;
    if (!existsSync(link)) return 'has no .git file';
    if (!lstatSync(link).isFile()) return 'contains another repository';
    if (pathIn(link, folder) !== gitDir) return 'names another repository in its .git file';
    const registration = registrationProblem(checkout);
    if (registration !== undefined) return registration;
    const found = (await gitIn(folder)('rev-parse', '--show-toplevel', '--absolute-git-dir', '--git-common-dir'))
      .split('\n')
      .map((path) => realpathSync(resolve(folder, path)));
    return [folder, gitDir, commonDir].every((path, index) => path === found[index])
      ? undefined
      : 'leads git to another repository';
  } catch (error) {
    return `cannot be verified (${error instanceof Error ? error.message : String(error)})`;
  }
}

/** @returns what is wrong with the repository's registration of the checkout; undefined if nothing is */
export function registrationProblem({ folder, gitDir, commonDir }: Checkout): string | undefined {
  const lost = 'is no longer registered in the repository';
  if (dirname(dirname(gitDir)) !== commonDir || !existsSync(gitDir)) return lost;
  if (!lstatSync(gitDir).isDirectory() || realpathSync(gitDir) !== gitDir) return lost;
  if (pathIn(`${gitDir}/commondir`, gitDir) !== commonDir) return 'is registered for another repository';
  if (resolve(gitDir, readLine(`${gitDir}/gitdir`)) !== `${folder}/.git`) return 'is registered for another folder';
  return undefined;
}

/** Returns the path that a file of git contains, with links resolved; undefined if that path does not exist. */
function pathIn(file: string, from: string): string | undefined {
  const path = resolve(from, readLine(file).replace(/^gitdir: /, ''));
  return existsSync(path) ? realpathSync(path) : undefined;
}

function readLine(file: string): string {
  return readFileSync(file, 'utf8').replace(/\n$/, '');
}
