/** Entries by which a search finds a task, and the entry that a search looks up. */
import { titleOf } from '../../../graph/rules/graphNode.ts';
import { lookupPrefix, prefixesOf, searchWords } from '../../../kernel/textSearch.ts';
import type { Task } from './task.ts';

/** Maximum number of entries by which a task is found. The last words of a long title are then not found. */
const MAX_WORDS = 80;
const MIN_PREFIX = 2;

/** Returns the entries by which a search finds a task: its id, and the prefixes of the words of its title. */
export function taskWords({ id, description }: Pick<Task, 'id' | 'description'>): readonly string[] {
  const prefixes = prefixesOf(titleOf(description)).filter((prefix) => prefix.length >= MIN_PREFIX);
  return [id, ...prefixes].slice(0, MAX_WORDS);
}

const TASK_ID = /^(?:task|run)-\S{15,}$/;

/** Returns the entry of `taskWords` to look up: an id, or the longest word. Undefined if each word is one letter. */
export function taskSearchWord(search: string): string | undefined {
  const id = search.trim().toLowerCase();
  if (TASK_ID.test(id)) return id;
  const [longest = ''] = [...searchWords(search)].sort((one, other) => other.length - one.length);
  return longest.length < MIN_PREFIX ? undefined : lookupPrefix(longest);
}
