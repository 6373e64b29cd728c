/** The keys of a log's entries and checkpoints: they sort as their numbers do. */

/** Keys of digits alone would be taken for an array's. */
const PREFIX = 'e';
const DIGITS = 10;

export function sequenceKey(sequence: number): string {
  return PREFIX + String(Math.max(sequence, 0)).padStart(DIGITS, '0');
}

export function sequenceOf(key: string | null): number {
  return Number(key?.slice(PREFIX.length));
}
