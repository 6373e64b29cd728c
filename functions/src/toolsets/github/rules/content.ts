/** The content of files, parts of it, and what stands in a tree. */
import { MusterError } from '../../../kernel/errors.ts';
import { fitsAnswer } from '../../../kernel/json.ts';
import { found } from './errors.ts';
import type { GitHub, ListedEntry, RepositoryName } from './port.ts';

/** The content of files, which GitHub gives in base64. */

const ENCODED = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function isBase64(text: string): boolean {
  return ENCODED.test(text);
}

/** The text, or undefined where the bytes are not UTF-8 or hold a NUL: what Git too takes for binary. */
export function utf8Text(base64: string): string | undefined {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function base64Of(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

// A file in parts, each of which one answer has room for.

interface FilePart {
  readonly content: string;
  /** Where the next part begins, in bytes of the file; absent where this is the last. */
  readonly nextOffset?: number;
}

/** No answer has room for more of a text. */
const MOST_CHARACTERS = 500_000;

/** Of so many bytes the base64 surely has room, and does not end within a group of its letters. */
const BASE64_BYTES = 360_000;

/** @param offset in bytes; within a letter, what is left of it comes as U+FFFD */
export function textPart(text: string, offset: number): FilePart {
  const bytes = new TextEncoder().encode(text);
  const rest = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(offset));
  let length = Math.min(rest.length, MOST_CHARACTERS);
  let content = beginning(rest, length);
  while (!fitsAnswer(content)) {
    length = Math.floor(length * 0.8);
    content = beginning(rest, length);
  }
  if (content.length === rest.length) return { content };
  return { content, nextOffset: offset + new TextEncoder().encode(content).length };
}

function beginning(text: string, length: number): string {
  return length === text.length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

export function base64Part(base64: string, offset: number): FilePart {
  const binary = atob(base64);
  const end = offset + BASE64_BYTES;
  return {
    content: btoa(binary.slice(offset, end)),
    ...(end < binary.length && { nextOffset: end }),
  };
}

// What stands at the paths of a tree. GitHub lists a tree at once only as far as a bound of its own; what
// is beyond it is looked for from directory to directory. Source: https://docs.github.com/rest/git/trees,
// "Get a tree"

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
