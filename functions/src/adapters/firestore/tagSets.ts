import { caseFolded } from '../../domain/todos/todo.ts';
import { systemHashing } from '../platform/cryptography.ts';

/** Short, so that the many of one to-do stay small; long enough that no two of an owner's are the same. */
const KEY_LENGTH = 16;

/** The key of a set of tags, whatever their order and case. */
export function tagSetKey(tags: readonly string[]): string {
  return keyOf([...new Set(tags.map(caseFolded))].sort());
}

/**
 * The key of every set that can be made of a to-do's tags: at most 1,023 for ten of them, and 7 for three.
 * "Has all of these tags" is then one look into one index. See docs/decisions/0017-to-do-queries.md.
 */
export function tagSetKeys(tags: readonly string[]): readonly string[] {
  const sorted = [...new Set(tags.map(caseFolded))].sort();
  let sets: readonly (readonly string[])[] = [[]];
  for (const tag of sorted) sets = [...sets, ...sets.map((set) => [...set, tag])];
  return sets.slice(1).map(keyOf);
}

function keyOf(sorted: readonly string[]): string {
  return systemHashing.sha256(JSON.stringify(sorted)).slice(0, KEY_LENGTH);
}
