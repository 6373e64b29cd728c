/**
 * What stands at the paths of a tree. GitHub lists a tree at once only as far as a bound of its own; what is beyond it
 * is looked for from directory to directory.
 * Source: https://docs.github.com/rest/git/trees, "Get a tree"
 */
import { MusterError } from '../errors.ts';
import { found } from './absence.ts';
import type { GitHub, ListedEntry } from './port.ts';
import type { RepositoryName } from './repository.ts';

/** So many directories are looked into for one commit; each is a request. */
const MAX_DIRECTORIES = 100;

export class TreeView {
  private readonly gitHub: GitHub;
  private readonly at: RepositoryName;
  private readonly root: string;
  private readonly known = new Map<string, ListedEntry>();
  private readonly looking = new Map<string, Promise<void>>();
  private isWhole = false;

  private constructor(gitHub: GitHub, at: RepositoryName, root: string) {
    this.gitHub = gitHub;
    this.at = at;
    this.root = root;
  }

  static async open(gitHub: GitHub, at: RepositoryName, root: string): Promise<TreeView> {
    const view = new TreeView(gitHub, at, root);
    const { entries, truncated } = await found(gitHub, at, gitHub.tree(at, root, 'whole'));
    view.note('', entries);
    view.isWhole = !truncated;
    return view;
  }

  /** What is known to stand there without another request. */
  glimpse(path: string): ListedEntry | undefined {
    return this.known.get(path);
  }

  /** @throws MusterError VALIDATION_ERROR where that would take too many requests */
  async find(path: string): Promise<ListedEntry | undefined> {
    const known = this.known.get(path);
    if (known !== undefined || this.isWhole) return known;
    await this.look(directoryOf(path));
    return this.known.get(path);
  }

  private look(directory: string): Promise<void> {
    const begun = this.looking.get(directory);
    if (begun !== undefined) return begun;
    if (this.looking.size === MAX_DIRECTORIES) throw tooManyDirectories();
    const look = this.list(directory);
    this.looking.set(directory, look);
    return look;
  }

  private async list(directory: string): Promise<void> {
    const entry = directory === '' ? undefined : await this.find(directory);
    if (directory !== '' && entry?.kind !== 'directory') return;
    const listing = this.gitHub.tree(this.at, entry?.sha ?? this.root, 'level');
    const { entries, truncated } = await found(this.gitHub, this.at, listing);
    this.note(directory, entries);
    if (truncated) throw tooManyEntries();
  }

  private note(directory: string, entries: readonly ListedEntry[]): void {
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

function tooManyDirectories(): MusterError {
  return treeTooLarge(
    `GitHub does not list so many files at once, and these are in more than ${MAX_DIRECTORIES} directories.`,
  );
}

function tooManyEntries(): MusterError {
  return treeTooLarge('GitHub does not list all that is in one of the directories.');
}

function treeTooLarge(message: string): MusterError {
  return new MusterError('VALIDATION_ERROR', message, {
    field: 'files',
    reason: 'TREE_TOO_LARGE',
    suggestion:
      'This call has committed nothing. Say executable for each file, or commit those of fewer directories at a time.',
  });
}
