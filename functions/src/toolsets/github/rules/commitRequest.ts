/** What a caller wants to commit, checked before GitHub is asked. */
import { MusterError } from '../../../kernel/errors.ts';
import { directoryOf, isBase64, isTreeTooLarge, type TreeView, utf8Text } from './content.ts';
import { invalidArgument, shown } from './errors.ts';
import { filePath, isSha, refName } from './names.ts';
import type { FileKind, ListedEntry, RepositoryName } from './port.ts';

/** Each is a request to GitHub of its own, which wants a second between two that write. */
export const MAX_BINARY_FILES = 20;

export interface FileChange {
  readonly path: string;
  readonly content?: string | undefined;
  readonly encoding: 'utf8' | 'base64';
  /** As it was where absent. */
  readonly executable?: boolean | undefined;
  readonly delete: boolean;
}

export interface CommitRequest {
  readonly at: RepositoryName;
  readonly branch: string;
  readonly message: string;
  readonly files: readonly FileChange[];
  /** The commit that the branch must still be at. */
  readonly expectedParent?: string | undefined;
}

/** @throws MusterError INVALID_FORMAT */
export function checkRequest({ branch, files, expectedParent }: CommitRequest): void {
  refName(branch, 'branch');
  if (expectedParent !== undefined && !isSha(expectedParent)) {
    throw invalidArgument(
      'expected_parent',
      'INVALID_REF',
      'expected_parent is the full SHA of a commit.',
      'Leave it out to commit onto whatever the branch is at.',
    );
  }
  const paths = new Set<string>();
  for (const [index, file] of files.entries()) {
    checkFile(file, `files.${index}`);
    if (paths.has(file.path)) throw twice(file.path, `files.${index}.path`);
    paths.add(file.path);
  }
  const binary = files.filter(({ encoding, content }) => encoding === 'base64' && content !== undefined);
  if (binary.length > MAX_BINARY_FILES) {
    throw invalidArgument(
      'files',
      'TOO_MANY_FILES',
      `One commit takes ${MAX_BINARY_FILES} files in base64; these are ${binary.length}.`,
      'Send text as utf8, or commit in several steps.',
    );
  }
}

function checkFile(file: FileChange, field: string): void {
  filePath(file.path, `${field}.path`);
  if (file.path.split('/').some((part) => part.toLowerCase() === '.git')) {
    throw invalidArgument(
      `${field}.path`,
      'INVALID_PATH',
      'Git keeps ".git" for itself.',
      'Choose another path.',
    );
  }
  if (file.delete === (file.content !== undefined)) {
    throw invalidArgument(
      `${field}.content`,
      'INVALID_FILE',
      `"${shown(file.path)}" needs either content or delete: true.`,
      'An empty file has the content "".',
    );
  }
  if (file.encoding === 'base64' && file.content !== undefined && !isBase64(file.content)) {
    throw invalidArgument(
      `${field}.content`,
      'INVALID_BASE64',
      `The content of "${shown(file.path)}" is not base64.`,
      'Encode it, without line breaks, or send it as utf8.',
    );
  }
}

function twice(path: string, field: string): MusterError {
  return invalidArgument(field, 'DUPLICATE_PATH', `"${shown(path)}" is there twice.`, 'Name each file once.');
}

// What a file is after a commit: as it was, unless the caller says otherwise. Refused is what would lose
// something else.

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
