/** Cuts and repairs texts of any program, so that they can be sent, stored and shown. */
import { withoutHidden } from '../../functions/src/kernel/hiddenCharacters.ts';

const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Range around a cut that is searched for grapheme cluster boundaries, in UTF-16 units. A flag emoji has 4 units. */
const NEAR = 256;

/** Returns the text without invisible and reordering characters, and with U+FFFD for each lone surrogate. */
export function clean(text: string): string {
  return withoutHidden(text).toWellFormed();
}

/**
 * Returns the beginning of a text, cut between grapheme clusters. A cluster that is longer than 256 units or than
 * `max` is cut between code points.
 * @param max maximum length in UTF-16 units
 */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const { clusters, codePoints } = limitsAround(text, max);
  return text.slice(0, clusters[0] > 0 ? clusters[0] : codePoints[0]).toWellFormed();
}

/**
 * Returns the end of a text, cut between grapheme clusters as in `cut`.
 * @param max maximum length in UTF-16 units
 */
export function cutStart(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const { clusters, codePoints } = limitsAround(text, text.length - max);
  return text.slice(clusters[1] < text.length ? clusters[1] : codePoints[1]).toWellFormed();
}

/**
 * Returns the beginning of a text, cut between grapheme clusters as in `cut`.
 * @param max maximum length in bytes of UTF-8
 */
export function cutBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text.toWellFormed();
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(max));
  return cut(text, read);
}

/** Returns the text, or its start and a note with the number of missing characters (about 30 units beyond `max`). */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const kept = cut(text, max);
  return `${kept}… (${text.length - kept.length} more characters)`;
}

/** Closest boundaries before and after a position, in UTF-16 units. At a boundary, both equal the position. */
type Limits = readonly [before: number, after: number];

/** Finds the boundaries of grapheme clusters and code points. The run time does not depend on the text's length. */
function limitsAround(text: string, position: number): { clusters: Limits; codePoints: Limits } {
  const codePoints: Limits = isInsidePair(text, position) ? [position - 1, position + 1] : [position, position];
  const { start, isLimit } = startBefore(text, position);
  const near = text.slice(start, position + NEAR);
  const found = CLUSTERS.segment(near).containing(position - start);
  if (found === undefined) return { clusters: codePoints, codePoints };
  const from = start + found.index;
  const to = from + found.segment.length;
  if (from === position) return { clusters: [position, position], codePoints };
  const isWhole = (isLimit || from > start) && (to < start + near.length || to === text.length);
  return { clusters: isWhole ? [from, to] : codePoints, codePoints };
}

/** Finds a position before the given one at which a grapheme cluster starts, such as a printable ASCII character. */
function startBefore(text: string, position: number): { start: number; isLimit: boolean } {
  const furthest = Math.max(0, position - NEAR);
  for (let at = position - 1; at > furthest; at--) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x20 && unit < 0x7f) return { start: at, isLimit: true };
  }
  const start = isInsidePair(text, furthest) ? furthest - 1 : furthest;
  return { start, isLimit: start === 0 };
}

function isInsidePair(text: string, position: number): boolean {
  return isBetween(text, position - 1, 0xd800) && isBetween(text, position, 0xdc00);
}

function isBetween(text: string, position: number, first: number): boolean {
  const unit = text.charCodeAt(position);
  return unit >= first && unit < first + 0x400;
}
