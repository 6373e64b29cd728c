/** Reads and replaces a file of another program. Preserves the file's symbolic links, owner and mode. */
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Mistake } from '../mistake.ts';

/** Maximum number of symbolic links in a path, as in Linux. */
const MAX_LINKS = 40;

/**
 * Returns the text of a file, or an empty text if the file does not exist.
 * @throws Mistake if the file cannot be read or is not UTF-8
 */
export function read(path: string): string {
  return attempt(path, 'read', () => {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return '';
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    } catch (error) {
      if (error instanceof TypeError) throw new Mistake(`${path} is not UTF-8 text. Convert it first.`);
      throw error;
    }
  });
}

/**
 * Replaces the text of a file or of its symbolic link's target. Is atomic, unless that would change the owner.
 * @param isPrivate whether only the owner may read a new file
 * @throws Mistake if the file is read-only or cannot be written
 */
export function replace(path: string, text: string, isPrivate: boolean): void {
  attempt(path, 'written', () => {
    const target = targetOf(resolve(path));
    const before = statSync(target, { throwIfNoEntry: false });
    // A read-only file must not change, even if the permissions of its folder allow replacing the file.
    if (before !== undefined && (before.mode & 0o222) === 0)
      throw new Mistake(`${path} is read-only. The file was not changed. Make it writable, then retry.`);
    if (before !== undefined) accessSync(target, constants.W_OK);
    else mkdirSync(dirname(target), { recursive: true });
    const complete = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
    try {
      if (writeNew(complete, text, before, isPrivate)) renameSync(complete, target);
      else writeFileSync(target, text); // Writing in place keeps the owner.
    } finally {
      rmSync(complete, { force: true });
    }
  });
}

/** Resolves symbolic links, including those in parent folders. Unlike `realpath`, accepts a missing target. */
function targetOf(path: string, links = 0): string {
  if (dirname(path) === path) return path;
  if (links > MAX_LINKS) throw new Mistake(`${path} is a symbolic link to itself.`);
  const folder = targetOf(dirname(path), links);
  const here = join(folder, basename(path));
  const link = linkIn(here);
  return link === undefined ? here : targetOf(resolve(folder, link), links + 1);
}

function linkIn(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Writes a new file. Returns whether the new file has the owner and mode of the file that it replaces. */
function writeNew(path: string, text: string, before: Stats | undefined, isPrivate: boolean): boolean {
  const file = openSync(path, 'wx', before === undefined && !isPrivate ? 0o666 : 0o600);
  try {
    writeFileSync(file, text);
    if (before === undefined || process.platform === 'win32') return true;
    const mine = statSync(path);
    if (mine.uid !== before.uid || mine.gid !== before.gid) fchownSync(file, before.uid, before.gid);
    fchmodSync(file, before.mode & 0o7777);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EPERM') return false;
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Runs an operation and turns its system errors into a Mistake. */
function attempt<Result>(path: string, done: 'read' | 'written', operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof Mistake || code === undefined) throw error;
    throw new Mistake(
      `${path} cannot be ${done} (${code}). The file was not changed. Check its permissions, and close programs that have it open.`,
    );
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
