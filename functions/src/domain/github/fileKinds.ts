/** What a file is after a commit: as it was, unless the caller says otherwise. Refused is what would lose something else. */
import { MusterError } from '../errors.ts';
import type { CommitRequest, FileChange } from './commitRequest.ts';
import { utf8Text } from './content.ts';
import { shown } from './errors.ts';
import type { FileKind, ListedEntry } from './port.ts';
import { directoryOf, isTreeTooLarge, type TreeView } from './treeView.ts';

/** What a symbolic link can lead to. Source: Linux, PATH_MAX. */
const MAX_TARGET_LENGTH = 4095;

/** Why a file cannot be committed onto a tree. */
const OBSTACLES: ReadonlySet<string | undefined> = new Set([
  'FILE_NOT_FOUND',
  'IS_DIRECTORY',
  'IS_SUBMODULE',
  'IS_SYMLINK',
  'NOT_A_DIRECTORY',
]);

export function isObstacle(error: unknown): boolean {
  return error instanceof MusterError && OBSTACLES.has(error.details.reason);
}

/**
 * By path, what each file is to be; nothing is said of those that are deleted.
 * @throws MusterError NOT_FOUND for a deletion; CONFLICT where something else stands there
 */
export async function kindsOf(
  view: TreeView,
  { files }: Pick<CommitRequest, 'files'>,
): Promise<ReadonlyMap<string, FileKind>> {
  const deleted = new Set(files.filter((file) => file.delete).map(({ path }) => path));
  const kinds = await Promise.all(
    files.map(async (file, index): Promise<[string, FileKind]> => {
      const there = await view.find(file.path).catch((error: unknown) => {
        // It need not be known what the file was.
        if (file.executable !== undefined && isTreeTooLarge(error)) return view.glimpse(file.path);
        throw error;
      });
      requireParents(view, file, index, deleted);
      return [file.path, kindOf(file, there, index)];
    }),
  );
  return new Map(kinds);
}

function kindOf(file: FileChange, there: ListedEntry | undefined, index: number): FileKind {
  const kind = there?.kind;
  if (kind === 'directory') throw isDirectory(file.path, index);
  if (file.delete) {
    if (kind === undefined) throw nothingToDelete(file.path, index);
    return 'file';
  }
  if (kind === 'submodule') throw isSubmodule(file.path, index);
  if (file.executable !== undefined) return file.executable ? 'executable' : 'file';
  if (kind === 'symlink' && !isTarget(file)) throw isSymlink(file.path, index);
  return kind ?? 'file';
}

/** What is above a file must be directories, or go with the same commit. */
function requireParents(
  view: TreeView,
  { path }: FileChange,
  index: number,
  deleted: ReadonlySet<string>,
): void {
  for (let above = directoryOf(path); above !== ''; above = directoryOf(above)) {
    const kind = view.glimpse(above)?.kind;
    if (kind === 'submodule') throw isSubmodule(above, index);
    if (kind !== undefined && kind !== 'directory' && !deleted.has(above)) throw notDirectory(above, index);
  }
}

function isTarget({ content = '', encoding }: FileChange): boolean {
  const target = encoding === 'utf8' ? content : utf8Text(content);
  return target !== undefined && target.length <= MAX_TARGET_LENGTH && /^[^\0\r\n]+$/.test(target);
}

function obstacle(index: number, reason: string, message: string, suggestion: string): MusterError {
  return new MusterError('CONFLICT', message, {
    field: `files.${index}.path`,
    reason,
    suggestion: `This call has committed nothing. ${suggestion}`,
  });
}

function nothingToDelete(path: string, index: number): MusterError {
  return new MusterError('NOT_FOUND', `There is no "${shown(path)}" to delete.`, {
    field: `files.${index}.path`,
    reason: 'FILE_NOT_FOUND',
    suggestion: 'This call has committed nothing. Leave out what is not there.',
  });
}

function isDirectory(path: string, index: number): MusterError {
  return obstacle(
    index,
    'IS_DIRECTORY',
    `"${shown(path)}" is a directory.`,
    'Name a file in it; to replace it, delete its files with a commit of their own first.',
  );
}

function notDirectory(path: string, index: number): MusterError {
  return obstacle(
    index,
    'NOT_A_DIRECTORY',
    `"${shown(path)}" is a file, and no directory.`,
    'Choose another path, or delete that file with the same commit.',
  );
}

function isSubmodule(path: string, index: number): MusterError {
  return obstacle(
    index,
    'IS_SUBMODULE',
    `"${shown(path)}" is a submodule: its files are in a repository of its own.`,
    'Commit there. Only deleting the submodule itself is possible here.',
  );
}

function isSymlink(path: string, index: number): MusterError {
  return obstacle(
    index,
    'IS_SYMLINK',
    `"${shown(path)}" is a symbolic link, and this content is nothing that one can lead to.`,
    'Commit to the file that it leads to, or say executable: false to put a file in its place.',
  );
}
