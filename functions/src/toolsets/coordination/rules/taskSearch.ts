/** Entry that a search for tasks looks up. The console uses it. */
import { lookupPrefix, searchWords } from '../../../kernel/textSearch.ts';
import { MIN_SEARCH_PREFIX } from './task.ts';

const TASK_ID = /^(?:task|run)-\S{15,}$/;

/**
 * Returns the entry of `taskWords` to look up: an id, or the word that finds the fewest tasks, which is one with a digit
 * or else the longest. Undefined if each word is one letter.
 */
export function taskSearchWord(search: string): string | undefined {
  const id = search.trim().toLowerCase();
  if (TASK_ID.test(id)) return id;
  const [rarest = ''] = [...searchWords(search)]
    .filter((word) => word.length >= MIN_SEARCH_PREFIX)
    .sort((one, other) => Number(/\d/.test(other)) - Number(/\d/.test(one)) || other.length - one.length);
  return rarest === '' ? undefined : lookupPrefix(rarest);
}
