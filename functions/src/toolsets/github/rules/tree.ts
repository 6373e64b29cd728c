/** What stands at the paths of a tree. Source: https://docs.github.com/rest/git/trees, "Get a tree" */
import { MusterError } from '../../../kernel/errors.ts';
import type { TreeEntry } from './answers.ts';
import { refusal } from './errors.ts';
import type { GitHub, RepositoryName } from './ports.ts';

/** So many directories are looked into for one commit; each is a request. */
const MAX_DIRECTORIES = 100;

/** GitHub lists a tree at once only up to a bound of its own. The rest is looked for from directory to directory. */
export async function openTree(gitHub: GitHub, at: RepositoryName, root: string) {
  const known = new Map<string, TreeEntry>();
  const listings = new Map<string, Promise<void>>();
  const whole = await gitHub.found(at, gitHub.tree(at, root, 'whole'));
  note('', whole.entries);

  function note(directory: string, entries: readonly TreeEntry[]): void {
    for (const entry of entries)
      known.set(directory === '' ? entry.path : `${directory}/${entry.path}`, entry);
  }

  async function find(path: string): Promise<TreeEntry | undefined> {
    if (!known.has(path) && whole.truncated) await listOnce(directoryOf(path));
    return known.get(path);
  }

  function listOnce(directory: string): Promise<void> {
    const begun = listings.get(directory);
    if (begun !== undefined) return begun;
    if (listings.size === MAX_DIRECTORIES)
      throw refusal('VALIDATION_ERROR', 'treeTooWide', { most: MAX_DIRECTORIES });
    const listing = list(directory);
    listings.set(directory, listing);
    return listing;
  }

  async function list(directory: string): Promise<void> {
    const entry = directory === '' ? undefined : await find(directory);
    if (directory !== '' && entry?.kind !== 'directory') return;
    const { entries, truncated } = await gitHub.found(at, gitHub.tree(at, entry?.sha ?? root, 'level'));
    note(directory, entries);
    if (truncated) throw refusal('VALIDATION_ERROR', 'directoryTooLarge');
  }

  return {
    /** What is known to stand there without another request. */
    knownAt: (path: string) => known.get(path),
    /** @throws MusterError VALIDATION_ERROR where that would take too many requests */
    find,
  };
}

export type TreeView = Awaited<ReturnType<typeof openTree>>;

/** The directory that holds it; '' where that is the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function isTreeTooLarge(error: unknown): boolean {
  return error instanceof MusterError && error.details.reason === 'TREE_TOO_LARGE';
}
