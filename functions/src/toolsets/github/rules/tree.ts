/** What stands at the paths of a tree. Source: https://docs.github.com/rest/git/trees, "Get a tree" */
import { MusterError } from '../../../kernel/errors.ts';
import type { TreeEntry } from './answers.ts';
import { refusal } from './errors.ts';
import type { GitHub, RepositoryName } from './ports.ts';

/** So many directories are looked into for one commit; each is a request. */
const MAX_DIRECTORIES = 100;

/** GitHub lists a tree at once only up to a bound of its own. The rest is looked for from directory to directory. */
export class TreeView {
  private readonly gitHub: GitHub;
  private readonly at: RepositoryName;
  private readonly root: string;
  private readonly known = new Map<string, TreeEntry>();
  private readonly lists = new Map<string, Promise<void>>();
  private isWhole = false;

  private constructor(gitHub: GitHub, at: RepositoryName, root: string) {
    this.gitHub = gitHub;
    this.at = at;
    this.root = root;
  }

  static async open(gitHub: GitHub, at: RepositoryName, root: string): Promise<TreeView> {
    const view = new TreeView(gitHub, at, root);
    const { entries, truncated } = await gitHub.found(at, gitHub.tree(at, root, 'whole'));
    view.note('', entries);
    view.isWhole = !truncated;
    return view;
  }

  /** What is known to stand there without another request. */
  knownAt(path: string): TreeEntry | undefined {
    return this.known.get(path);
  }

  /** @throws MusterError VALIDATION_ERROR where that would take too many requests */
  async find(path: string): Promise<TreeEntry | undefined> {
    const known = this.known.get(path);
    if (known !== undefined || this.isWhole) return known;
    await this.listOnce(directoryOf(path));
    return this.known.get(path);
  }

  private listOnce(directory: string): Promise<void> {
    const begun = this.lists.get(directory);
    if (begun !== undefined) return begun;
    if (this.lists.size === MAX_DIRECTORIES) {
      throw refusal('VALIDATION_ERROR', 'treeTooWide', { most: MAX_DIRECTORIES });
    }
    const listing = this.list(directory);
    this.lists.set(directory, listing);
    return listing;
  }

  private async list(directory: string): Promise<void> {
    const entry = directory === '' ? undefined : await this.find(directory);
    if (directory !== '' && entry?.kind !== 'directory') return;
    const listing = this.gitHub.tree(this.at, entry?.sha ?? this.root, 'level');
    const { entries, truncated } = await this.gitHub.found(this.at, listing);
    this.note(directory, entries);
    if (truncated) throw refusal('VALIDATION_ERROR', 'directoryTooLarge');
  }

  private note(directory: string, entries: readonly TreeEntry[]): void {
    for (const entry of entries) {
      this.known.set(directory === '' ? entry.path : `${directory}/${entry.path}`, entry);
    }
  }
}

/** The directory that holds it; '' where that is the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function isTreeTooLarge(error: unknown): boolean {
  return error instanceof MusterError && error.details.reason === 'TREE_TOO_LARGE';
}
