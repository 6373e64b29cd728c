/** What a caller wants to commit, checked before GitHub is asked. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import type { FileKind, TreeEntry } from './answers.ts';
import { invalidArgument, shown } from './errors.ts';
import { filePath, isSha, refName } from './names.ts';
import type { RepositoryName } from './ports.ts';
import { isBase64, utf8Text } from './text.ts';
import { directoryOf, isTreeTooLarge, type TreeView } from './tree.ts';

/** Each is a request to GitHub of its own, which wants a second between two that write. */
export const MAX_BINARY_FILES = 20;

export const fileChange = z.strictObject({
  path: z.string().describe('File path'),
  content: z.string().optional().describe('The whole new content'),
  encoding: z.enum(['utf8', 'base64']).default('utf8').describe('Of content'),
  executable: z.boolean().optional().describe('As before if left out'),
  delete: z.boolean().default(false).describe('Instead of content'),
});

export type FileChange = z.output<typeof fileChange>;

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
    if (paths.has(file.path)) {
      const message = `"${shown(file.path)}" is there twice.`;
      throw invalidArgument(`files.${index}.path`, 'DUPLICATE_PATH', message, 'Name each file once.');
    }
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

function checkFile({ path, content, encoding, delete: isDeleted }: FileChange, field: string): void {
  const invalid = (part: string, reason: string, message: string, suggestion: string) =>
    invalidArgument(`${field}.${part}`, reason, message, suggestion);
  filePath(path, `${field}.path`);
  if (path.split('/').some((part) => part.toLowerCase() === '.git')) {
    throw invalid('path', 'INVALID_PATH', 'Git keeps ".git" for itself.', 'Choose another path.');
  }
  const name = shown(path);
  if (isDeleted === (content !== undefined)) {
    const message = `"${name}" needs either content or delete: true.`;
    throw invalid('content', 'INVALID_FILE', message, 'An empty file has the content "".');
  }
  if (encoding === 'base64' && content !== undefined && !isBase64(content)) {
    const message = `The content of "${name}" is not base64.`;
    throw invalid(
      'content',
      'INVALID_BASE64',
      message,
      'Encode it, without line breaks, or send it as utf8.',
    );
  }
}

/** What a symbolic link can lead to. Source: Linux, PATH_MAX. */
const MAX_TARGET_LENGTH = 4095;

/** Why a file cannot be committed onto a tree: what is said of a path, and what to do. Refused is what would lose something else. */
const OBSTACLES = {
  FILE_NOT_FOUND: ['There is no "PATH" to delete.', 'Leave out what is not there.'],
  IS_DIRECTORY: [
    '"PATH" is a directory.',
    'Name a file in it; to replace it, delete its files with a commit of their own first.',
  ],
  NOT_A_DIRECTORY: [
    '"PATH" is a file, and no directory.',
    'Choose another path, or delete that file with the same commit.',
  ],
  IS_SUBMODULE: [
    '"PATH" is a submodule: its files are in a repository of its own.',
    'Commit there. Only deleting the submodule itself is possible here.',
  ],
  IS_SYMLINK: [
    '"PATH" is a symbolic link, and this content is nothing that one can lead to.',
    'Commit to the file that it leads to, or say executable: false to put a file in its place.',
  ],
} as const;

function obstacle(reason: keyof typeof OBSTACLES, path: string, index: number): MusterError {
  const [message, suggestion] = OBSTACLES[reason];
  const code = reason === 'FILE_NOT_FOUND' ? 'NOT_FOUND' : 'CONFLICT';
  return new MusterError(
    code,
    message.replace('PATH', () => shown(path)),
    {
      field: `files.${index}.path`,
      reason,
      suggestion: `This call has committed nothing. ${suggestion}`,
    },
  );
}

export function isObstacle(error: unknown): boolean {
  return error instanceof MusterError && (error.details.reason ?? '') in OBSTACLES;
}

/**
 * By path, what each file is after the commit: as it was, unless the caller says otherwise. Nothing is said of those
 * that are deleted.
 * @throws MusterError NOT_FOUND for a deletion; CONFLICT where something else stands there
 */
export async function kindsOf(
  view: TreeView,
  files: readonly FileChange[],
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

function kindOf(file: FileChange, there: TreeEntry | undefined, index: number): FileKind {
  const kind = there?.kind;
  if (kind === 'directory') throw obstacle('IS_DIRECTORY', file.path, index);
  if (file.delete) {
    if (kind === undefined) throw obstacle('FILE_NOT_FOUND', file.path, index);
    return 'file';
  }
  if (kind === 'submodule') throw obstacle('IS_SUBMODULE', file.path, index);
  if (file.executable !== undefined) return file.executable ? 'executable' : 'file';
  if (kind === 'symlink' && !isTarget(file)) throw obstacle('IS_SYMLINK', file.path, index);
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
    if (kind === 'submodule') throw obstacle('IS_SUBMODULE', above, index);
    if (kind !== undefined && kind !== 'directory' && !deleted.has(above)) {
      throw obstacle('NOT_A_DIRECTORY', above, index);
    }
  }
}

function isTarget({ content = '', encoding }: FileChange): boolean {
  const target = encoding === 'utf8' ? content : utf8Text(content);
  return target !== undefined && target.length <= MAX_TARGET_LENGTH && /^[^\0\r\n]+$/.test(target);
}
