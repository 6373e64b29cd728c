/** Names of files that tasks reserve: paths and globs relative to the repository. Source: docs/semantics.md#files. */

const MAX_GLOBS = 32;
const MAX_LENGTH = 200;
const ANY_DEPTH = '**';

/** Matches names outside the repository: absolute paths, drives, URLs, and names with control characters. */
const NOT_A_FILE = /^[/~]|^[a-z]:|:\/\/|\p{C}/iu;

/** Returns a name without `./`, and with `/**` for a trailing `/`; undefined for a name outside the repository. */
function normalized(name: string): string | undefined {
  const path = name.trim().replaceAll('\\', '/');
  if (path === '' || path.length > MAX_LENGTH || NOT_A_FILE.test(path)) return undefined;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return undefined;
  return [...parts, ...(parts.length === 0 || path.endsWith('/') ? [ANY_DEPTH] : [])].join('/');
}

/** Returns the distinct normalized names, at most `max`, and the names that are ignored. */
export function readGlobs(names: readonly string[], max = MAX_GLOBS) {
  const globs = new Set<string>();
  const ignored: string[] = [];
  for (const name of names) {
    const glob = normalized(name);
    if (glob !== undefined && (globs.size < max || globs.has(glob))) globs.add(glob);
    else ignored.push(name);
  }
  return { globs: [...globs], ignored };
}

export function isPath(glob: string): boolean {
  return !/[*?]/.test(glob);
}

/**
 * Returns whether a file can match both globs. `**` matches any number of segments, `*` any part of a segment, and `?`
 * one character. A path without wildcards and file extension also matches everything below it, as a folder.
 */
export function overlap(one: string, other: string): boolean {
  if (isPath(one) && isPath(other)) return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
  return meet(segmentsOf(one), segmentsOf(other), ANY_DEPTH, segmentsMeet);
}

function segmentsMeet(one: string, other: string): boolean {
  if (isPath(one) && isPath(other)) return one === other;
  return meet([...one], [...other], '*', (a, b) => a === b || a === '?' || b === '?');
}

function segmentsOf(glob: string): readonly string[] {
  return [...glob.split('/'), ...(isPath(glob) && !/[^/]\.[^/.]+$/.test(glob) ? [ANY_DEPTH] : [])];
}

type Meets = (one: string, other: string) => boolean;

/** Returns whether a sequence matches both patterns, in which `star` stands for any number of parts. */
function meet(one: readonly string[], other: readonly string[], star: string, meets: Meets): boolean {
  const [first, second] = [one.indexOf(star), other.indexOf(star)];
  if (first < 0 && second < 0) return one.length === other.length && startsAlike(one, other, meets);
  if (first < 0) return contains(other, one, star, meets);
  if (second < 0) return contains(one, other, star, meets);
  // Both have a star, which can match the middle of the other. So only what precedes and follows the stars decides.
  const [tail, otherTail] = [one, other].map((all) => all.slice(all.lastIndexOf(star) + 1).reverse());
  const heads = startsAlike(one.slice(0, first), other.slice(0, second), meets);
  return heads && startsAlike(tail ?? [], otherTail ?? [], meets);
}

/** Returns whether the first parts, as many as both have, meet each other. */
function startsAlike(one: readonly string[], other: readonly string[], meets: Meets): boolean {
  return one.slice(0, other.length).every((part, at) => meets(part, other[at] ?? ''));
}

/** Returns whether a pattern with stars matches a sequence without stars. */
function contains(pattern: readonly string[], fixed: readonly string[], star: string, meets: Meets): boolean {
  const head = pattern.slice(0, pattern.indexOf(star));
  const tail = pattern.slice(pattern.lastIndexOf(star) + 1);
  const end = fixed.length - tail.length;
  if (end < head.length) return false;
  if (!startsAlike(head, fixed, meets) || !startsAlike(tail, fixed.slice(end), meets)) return false;
  let from = head.length;
  let chunk: string[] = [];
  for (const part of pattern.slice(head.length, pattern.length - tail.length)) {
    if (part !== star) {
      chunk.push(part);
      continue;
    }
    while (from + chunk.length <= end && !startsAlike(chunk, fixed.slice(from), meets)) from += 1;
    from += chunk.length;
    if (from > end) return false;
    chunk = [];
  }
  return true;
}
