/**
 * The words of a to-do as search finds them: every beginning of every word is a field of its own, with the owner
 * as its value. Firestore keeps an ascending index of each such field, which is the list of one owner's to-dos
 * with that word, and answers several equalities from several of these lists at once.
 * See docs/decisions/0020-search-by-merged-indexes.md.
 */
import { systemHashing } from '../../../kernel/platform.ts';
import { prefixesOf } from '../../../kernel/text.ts';
import { caseFolded, type Todo } from '../rules/todo.ts';

/** Where a to-do has a word: in its title, only in its description, or in either. */
type WordPlace = 'title' | 'rest' | 'any';

export type WordIndex = Readonly<Record<WordPlace, Readonly<Record<string, string>>>>;

type Worded = Pick<Todo, 'ownerUid' | 'title' | 'description'>;

/**
 * What the words of one to-do may take of its document, in bytes: room for a usual text of 5,000 letters. A text of
 * nothing but long words would take several times that.
 */
export const MAX_WORD_BYTES = 100_000;

export function wordIndexOf({ ownerUid, title, description = '' }: Worded): WordIndex {
  const room = { bytes: MAX_WORD_BYTES };
  const inTitle = shortEnough(prefixesOf(title), ownerUid, room);
  const known = new Set(inTitle);
  const others = prefixesOf(description).filter((word) => !known.has(word));
  const rest = shortEnough(others, ownerUid, room);
  const listed = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, ownerUid]));
  return { title: listed(inTitle), rest: listed(rest), any: listed([...inTitle, ...rest]) };
}

/**
 * As many of the words, from the first, as there is room for, of which they take their part.
 * Source: https://firebase.google.com/docs/firestore/storage-size, a field's name and a string's value.
 */
function shortEnough(words: readonly string[], ownerUid: string, room: { bytes: number }): readonly string[] {
  const end = words.findIndex((word) => {
    room.bytes -= 2 * (Buffer.byteLength(word) + 1 + Buffer.byteLength(ownerUid) + 1);
    return room.bytes < 0;
  });
  return end < 0 ? words : words.slice(0, end);
}

/** One word that a search asks for, and where it is to be. */
export interface SoughtWord {
  readonly place: WordPlace;
  readonly word: string;
}

/** A to-do that has all of the words, wherever. */
export function anywhere(words: readonly string[]): readonly SoughtWord[] {
  return words.map((word) => ({ place: 'any', word }));
}

/**
 * The ways of having all of the words, each to-do having one of them: all in the title; then all but the last,
 * and so on to all but the first. Of what follows the first word that the title lacks, the place is open.
 */
export function waysOfHaving(words: readonly string[]): readonly (readonly SoughtWord[])[] {
  const inTitle = words.map((word): SoughtWord => ({ place: 'title', word }));
  const lacking = words.map((_, first) =>
    words.map(
      (word, at): SoughtWord => ({ place: at < first ? 'title' : at === first ? 'rest' : 'any', word }),
    ),
  );
  return [inTitle, ...lacking.reverse()];
}

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
