/** Finds repositories inside a checkout that are not submodules. Agents create or clone such repositories. */
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Checkout, gitAt } from '../checkout.ts';
import { succeeds } from '../git.ts';

export interface Found {
  /** Folders below the checkout that contain a `.git`, outermost first, without a slash at the end. */
  readonly repositories: readonly string[];
  readonly unreadable: readonly string[];
}

/**
 * Searches a checkout for `.git` entries. Git itself does not report these entries in folders with tracked files.
 * @param skip folders that git ignores, relative to the checkout
 */
export function findRepositories(folder: string, skip: ReadonlySet<string>): Found {
  const repositories: string[] = [];
  const unreadable: string[] = [];
  const walk = (path: string): void => {
    const entries = entriesOf(`${folder}/${path}`);
    if (entries === undefined) {
      unreadable.push(path || '.');
      return;
    }
    if (path !== '' && entries.some(({ name }) => name === '.git')) repositories.push(path);
    for (const entry of entries) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory() && entry.name !== '.git' && !skip.has(inner)) walk(inner);
    }
  };
  walk('');
  return { repositories, unreadable };
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

/**
 * The kind of a folder with a `.git`. `inside`: the objects of the repository are in the checkout too, and would be
 * deleted with it. `elsewhere`: its `.git` file names a repository outside the checkout, to which the runner must not
 * write. `broken`: git does not accept the repository, and stores no file below its `.git`.
 */
export type Nested =
  | { readonly kind: 'inside'; readonly checkout: Checkout }
  | { readonly kind: 'elsewhere'; readonly head: string | undefined }
  | { readonly kind: 'broken' };

/** @param owners folders in which a repository's objects count as inside: the checkout and its git directory */
export async function inspect(folder: string, owners: readonly string[]): Promise<Nested> {
  const gitDir = gitDirOf(folder);
  if (gitDir === undefined) return { kind: 'broken' };
  const commonDir = commonDirOf(gitDir);
  const checkout = { folder, gitDir, commonDir };
  const git = gitAt(checkout);
  if (!(await succeeds(git, 'rev-parse', '--git-dir'))) return { kind: 'broken' };
  const isInside = [gitDir, commonDir].every((path) => owners.some((owner) => path.startsWith(`${owner}/`)));
  if (isInside) return { kind: 'inside', checkout };
  const head = await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(() => undefined);
  return { kind: 'elsewhere', head };
}

/** Returns the real path of a folder's git directory; undefined if it has none. */
function gitDirOf(folder: string): string | undefined {
  try {
    const path = `${folder}/.git`;
    if (statSync(path).isDirectory()) return realpathSync(path);
    const named = /^gitdir: (.+?)\n*$/s.exec(readFileSync(path, 'utf8'))?.[1];
    return named === undefined ? undefined : realpathSync(resolve(folder, named));
  } catch {
    return undefined;
  }
}

function commonDirOf(gitDir: string): string {
  try {
    if (!lstatSync(`${gitDir}/commondir`).isFile()) return gitDir;
    return realpathSync(resolve(gitDir, readFileSync(`${gitDir}/commondir`, 'utf8').trim()));
  } catch {
    return gitDir;
  }
}
