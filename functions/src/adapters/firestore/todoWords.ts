/**
 * The words of a to-do as search finds them: every beginning of every word is a field of its own, with the owner
 * as its value. Firestore keeps an ascending index of each such field, which is the list of one owner's to-dos
 * with that word, and answers several equalities from several of these lists at once.
 * See docs/decisions/0020-search-by-merged-indexes.md.
 */
import { prefixesOf } from '../../domain/search.ts';
import type { Todo } from '../../domain/todos/todo.ts';

/** Where a to-do has a word: in its title, only in its description, or in either. */
export type WordPlace = 'title' | 'rest' | 'any';

export type WordIndex = Readonly<Record<WordPlace, Readonly<Record<string, string>>>>;

type Worded = Pick<Todo, 'ownerUid' | 'title' | 'description'>;

export function wordIndexOf({ ownerUid, title, description = '' }: Worded): WordIndex {
  const inTitle = prefixesOf(title);
  const known = new Set(inTitle);
  const rest = prefixesOf(description).filter((word) => !known.has(word));
  const listed = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, ownerUid]));
  return { title: listed(inTitle), rest: listed(rest), any: listed([...inTitle, ...rest]) };
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
