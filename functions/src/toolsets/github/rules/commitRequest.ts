/** A caller's request to commit files, which is validated before any request is sent to GitHub. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { filePath, isSha, refName } from './names.ts';
import type { GitHub, RepositoryName } from './ports.ts';
import { type FileKind, refusal, type TreeEntry } from './responses.ts';
import { isBase64, utf8Text } from './text.ts';

/** Maximum number of base64 files per commit. Each one needs a write, and GitHub asks for one write per second. */
export const MAX_BINARY_FILES = 20;

export const fileChange = z.strictObject({
  path: z.string().describe('File path'),
  content: z.string().optional().describe('Complete new content'),
  encoding: z.enum(['utf8', 'base64']).default('utf8').describe('Encoding'),
  executable: z.boolean().optional().describe('Default: unchanged'),
  delete: z.boolean().default(false).describe('Instead of content'),
});
export type FileChange = z.output<typeof fileChange>;

export interface CommitRequest {
  readonly at: RepositoryName;
  readonly branch: string;
  readonly message: string;
  readonly files: readonly FileChange[];
  /** SHA of the commit at which the branch must be. If omitted, the branch may be at any commit. */
  readonly expectedParent?: string | undefined;
}

/** @throws MusterError INVALID_FORMAT if the request is invalid */
export function checkRequest({ branch, files, expectedParent }: CommitRequest): void {
  refName(branch, 'branch');
  if (expectedParent !== undefined && !isSha(expectedParent)) throw refusal('INVALID_FORMAT', 'expectedParent');
  const paths = new Set<string>();
  for (const [index, file] of files.entries()) {
    checkFile(file, `files.${index}`);
    const { path } = file;
    if (paths.has(path)) throw refusal('INVALID_FORMAT', 'pathTwice', { path, field: `files.${index}.path` });
    paths.add(path);
  }
  const binary = files.filter(({ encoding, content }) => encoding === 'base64' && content !== undefined);
  if (binary.length > MAX_BINARY_FILES)
    throw refusal('INVALID_FORMAT', 'binaryFiles', { max: MAX_BINARY_FILES, count: binary.length });
}

function checkFile({ path, content, encoding, delete: isDeleted }: FileChange, field: string): void {
  filePath(path, `${field}.path`);
  if (path.split('/').some((part) => part.toLowerCase() === '.git'))
    throw refusal('INVALID_FORMAT', 'pathOfGit', { field: `${field}.path` });
  const ofContent = { path, field: `${field}.content` };
  if (isDeleted === (content !== undefined)) throw refusal('INVALID_FORMAT', 'file', ofContent);
  if (encoding === 'base64' && content !== undefined && !isBase64(content))
    throw refusal('INVALID_FORMAT', 'base64', ofContent);
}

/** Maximum length of the target of a symbolic link. Source: PATH_MAX of Linux. */
const MAX_TARGET_LENGTH = 4095;

/** Codes of errors which mean that other entries of the tree prevent this commit. */
const BLOCKING_CODES: ReadonlySet<string | undefined> = new Set([
  'FILE_NOT_FOUND',
  'IS_DIRECTORY',
  'IS_SUBMODULE',
  'IS_SYMLINK',
  'NOT_A_DIRECTORY',
]);

export function isBlocking(error: unknown): boolean {
  return error instanceof MusterError && BLOCKING_CODES.has(error.details.reason);
}

/**
 * Returns the kind that each file has after the commit, by path. A file keeps its kind unless the caller sets a kind.
 * For deleted files, the returned kind is meaningless.
 * @throws MusterError NOT_FOUND if a file to delete is missing; CONFLICT if an entry of another kind is in the way
 */
export async function kindsOf(view: TreeView, files: readonly FileChange[]): Promise<ReadonlyMap<string, FileKind>> {
  const deleted = new Set(files.filter((file) => file.delete).map(({ path }) => path));
  const kinds = await Promise.all(
    files.map(async (file, index): Promise<[string, FileKind]> => {
      const there = await view.find(file.path).catch((error: unknown) => {
        // If the caller sets the kind, the previous kind is not needed.
        const isTooLarge = error instanceof MusterError && error.details.reason === 'TREE_TOO_LARGE';
        if (file.executable !== undefined && isTooLarge) return view.knownAt(file.path);
        throw error;
      });
      const field = `files.${index}.path`;
      requireParents(view, file.path, deleted, field);
      return [file.path, kindOf(file, there?.kind, field)];
    }),
  );
  return new Map(kinds);
}

function kindOf(file: FileChange, kind: TreeEntry['kind'] | undefined, field: string): FileKind {
  const { path, executable } = file;
  if (kind === 'directory') throw refusal('CONFLICT', 'isDirectory', { path, field });
  if (file.delete) {
    if (kind === undefined) throw refusal('NOT_FOUND', 'fileToDelete', { path, field });
    return 'file';
  }
  if (kind === 'submodule') throw refusal('CONFLICT', 'isSubmodule', { path, field });
  if (executable !== undefined) return executable ? 'executable' : 'file';
  if (kind === 'symlink' && !isTarget(file)) throw refusal('CONFLICT', 'isSymlink', { path, field });
  return kind ?? 'file';
}

/** Throws unless each parent directory is a directory, does not exist, or is a file that the same commit deletes. */
function requireParents(view: TreeView, path: string, deleted: ReadonlySet<string>, field: string): void {
  for (let above = directoryOf(path); above !== ''; above = directoryOf(above)) {
    const kind = view.knownAt(above)?.kind;
    if (kind === 'submodule') throw refusal('CONFLICT', 'isSubmodule', { path: above, field });
    if (kind !== undefined && kind !== 'directory' && !deleted.has(above))
      throw refusal('CONFLICT', 'notDirectory', { path: above, field });
  }
}

function isTarget({ content = '', encoding }: FileChange): boolean {
  const target = encoding === 'utf8' ? content : utf8Text(content);
  return target !== undefined && target.length <= MAX_TARGET_LENGTH && /^[^\0\r\n]+$/.test(target);
}

// Finds the entries of a tree by path. Source: https://docs.github.com/rest/git/trees, "Get a tree"

/** Maximum number of directories that are listed separately per commit. Each listing needs a request to GitHub. */
const MAX_DIRECTORIES = 100;

/** Reads a tree. If the tree is too large for a complete list, lists the needed directories separately. */
export async function openTree(gitHub: GitHub, at: RepositoryName, root: string) {
  const known = new Map<string, TreeEntry>();
  const listings = new Map<string, Promise<void>>();
  const whole = await gitHub.found(at, gitHub.tree(at, root, 'whole'));
  note('', whole.entries);

  function note(directory: string, entries: readonly TreeEntry[]): void {
    for (const entry of entries) known.set(directory === '' ? entry.path : `${directory}/${entry.path}`, entry);
  }

  async function find(path: string): Promise<TreeEntry | undefined> {
    if (!known.has(path) && whole.truncated) await listOnce(directoryOf(path));
    return known.get(path);
  }

  function listOnce(directory: string): Promise<void> {
    const cached = listings.get(directory);
    if (cached !== undefined) return cached;
    if (listings.size === MAX_DIRECTORIES) throw refusal('VALIDATION_ERROR', 'treeTooWide', { max: MAX_DIRECTORIES });
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
    /** Returns the entry at the path from the lists read so far, without a further request. */
    knownAt: (path: string) => known.get(path),
    /** Finds the entry at the path. @throws MusterError VALIDATION_ERROR if too many directories must be listed */
    find,
  };
}

export type TreeView = Awaited<ReturnType<typeof openTree>>;

/** Returns the path of the parent directory, which is '' for files in the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
