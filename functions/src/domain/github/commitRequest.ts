/** What a caller wants to commit, checked before GitHub is asked. */

import type { MusterError } from '../errors.ts';
import { isBase64 } from './content.ts';
import { invalidArgument, shown } from './errors.ts';
import { filePath, isSha, refName } from './names.ts';
import type { RepositoryName } from './repository.ts';

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
