/** Reads and replaces the file of another program: its links, owner and mode stay. */
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

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Returns the text of a file, empty if it does not exist.
 * @throws Mistake
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
 * Replaces the text of a file, or of the file that it links to. A program that reads it gets the old text or the new.
 * @param isPrivate whether a new file is for its owner only
 * @throws Mistake
 */
export function replace(path: string, text: string, isPrivate: boolean): void {
  attempt(path, 'written', () => {
    const target = targetOf(resolve(path));
    const before = statSync(target, { throwIfNoEntry: false });
    // A file without the right to write is not to be changed, though its folder would allow to replace it.
    if (before !== undefined && (before.mode & 0o222) === 0)
      throw new Mistake(`${path} is read-only, so it has been left as it is.`);
    if (before !== undefined) accessSync(target, constants.W_OK);
    else mkdirSync(dirname(target), { recursive: true });
    const complete = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
    try {
      if (writeNew(complete, text, before, isPrivate)) renameSync(complete, target);
      else writeFileSync(target, text); // only so its owner stays
    } finally {
      rmSync(complete, { force: true });
    }
  });
}

/** Follows symbolic links, also in the folders of a path, and those to nothing. Node's `realpath` fails at them. */
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

/** Returns whether the new file has the owner and the mode of the one before. */
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

/** Runs an operation whose failure is told in a sentence. */
function attempt<Result>(path: string, done: 'read' | 'written', operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof Mistake || code === undefined) throw error;
    throw new Mistake(
      `${path} cannot be ${done} (${code}), so it has been left as it is. Check its permissions, and close programs that have it open.`,
    );
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
