/** Entry that a search for tasks looks up. The console uses it. */
import { lookupPrefix, searchWords } from '../../../kernel/textSearch.ts';
import { MIN_SEARCH_PREFIX } from './task.ts';

const TASK_ID = /^(?:task|run)-\S{15,}$/;

/** Returns the entry of `taskWords` to look up: an id, or the longest word. Undefined if each word is one letter. */
export function taskSearchWord(search: string): string | undefined {
  const id = search.trim().toLowerCase();
  if (TASK_ID.test(id)) return id;
  const [longest = ''] = [...searchWords(search)].sort((one, other) => other.length - one.length);
  return longest.length < MIN_SEARCH_PREFIX ? undefined : lookupPrefix(longest);
}
