/**
 * Search index of a to-do: each prefix of each word is a separate field whose value is the owner. Firestore indexes
 * each field automatically, so a query for an owner and a word reads one index, and a query for several words merges
 * these indexes. See docs/decisions/0017-to-do-queries-and-search.md.
 */
import { z } from 'zod/mini';
import { parentFields } from '../../../graph/rules/graphNode.ts';
import { documentCodec } from '../../../kernel/documentCodec.ts';
import { canonicalJson, jsonObject } from '../../../kernel/json.ts';
import { systemHashing } from '../../../kernel/platform.ts';
import { prefixesOf } from '../../../kernel/textSearch.ts';
import {
  caseFolded,
  PRIORITIES,
  type RemindedTodo,
  type Todo,
  type TodoFilter,
  todoCodec,
  todoResponse,
} from '../rules/todo.ts';

/** Where a word must be: in the title, in the description but not the title, or in either. */
type WordPlace = 'title' | 'rest' | 'any';
export type WordIndex = Readonly<Record<WordPlace, Readonly<Record<string, string>>>>;
type Worded = Pick<Todo, 'owner_uid' | 'title' | 'description'>;

/**
 * Maximum size of a to-do's word index, in bytes: enough for a typical text of 5,000 letters. A text of only long
 * words would need several times as much.
 */
export const MAX_WORD_BYTES = 100_000;

export function wordIndexOf({ owner_uid, title, description = '' }: Worded): WordIndex {
  const room = { bytes: MAX_WORD_BYTES };
  const known = new Set<string>();
  const indexed = (words: readonly string[]) => {
    const taken = shortEnough(
      words.filter((word) => !known.has(word)),
      owner_uid,
      room,
    );
    for (const word of taken) known.add(word);
    return taken;
  };
  const [inTitle, inRest] = [indexed(prefixesOf(title)), indexed(prefixesOf(description))];
  const listed = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, owner_uid]));
  return { title: listed(inTitle), rest: listed(inRest), any: listed([...known]) };
}

/**
 * Returns the first words that fit into `room`, and subtracts their size from it. Source for the size of a field:
 * https://firebase.google.com/docs/firestore/storage-size.
 */
function shortEnough(words: readonly string[], ownerUid: string, room: { bytes: number }): readonly string[] {
  const end = words.findIndex((word) => {
    room.bytes -= 2 * (Buffer.byteLength(word) + 1 + Buffer.byteLength(ownerUid) + 1);
    return room.bytes < 0;
  });
  return end < 0 ? words : words.slice(0, end);
}

export interface SearchWord {
  readonly place: WordPlace;
  readonly word: string;
}

/**
 * Returns the ways to contain all words, so that each to-do matches exactly one way: all words in the title, then all
 * but the last, and so on. After the first word that is not in the title, words may be in either place.
 */
export function matchVariants(words: readonly string[]): readonly (readonly SearchWord[])[] {
  const inTitle = words.map((word): SearchWord => ({ place: 'title', word }));
  const lacking = words.map((_, first) =>
    words.map((word, at): SearchWord => ({ place: at < first ? 'title' : at === first ? 'rest' : 'any', word })),
  );
  return [inTitle, ...lacking.reverse()];
}

/** Number of characters. Short keys keep documents small, but keys of one owner's tags must not collide. */
const KEY_LENGTH = 16;

/** Returns the key of a set of tags, which does not depend on order and case. */
export function tagSetKey(tags: readonly string[]): string {
  return keyOf([...new Set(tags.map(caseFolded))].sort());
}

/**
 * Returns the keys of all subsets of a to-do's tags: at most 1,023 for ten tags, 7 for three. A search for to-dos
 * that have certain tags then reads one index. See docs/decisions/0017-to-do-queries-and-search.md.
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

/** Sort values after and before every date, so that to-dos without a date come last in either direction. */
export const [LAST_OF_ALL, FIRST_OF_ALL] = [8.64e15, -8.64e15];

/** Returns the key of a filter by completion and priority, such as `all`, `open`, `HIGH` or `open HIGH`. */
export function kindOf({ completed, priority }: Pick<TodoFilter, 'completed' | 'priority'>): string {
  const state = completed ? 'done' : 'open';
  return [...(completed === undefined ? [] : [state]), ...(priority ? [priority] : [])].join(' ') || 'all';
}

/** Returns the fields that list queries use. Times are epoch milliseconds, so that cursors contain only numbers. */
function indexOf(todo: Todo) {
  const { completed, priority } = todo;
  const [due, done] = [todo.due_date?.getTime(), todo.completed_at?.getTime()];
  return {
    created: todo.created_at.getTime(),
    due_up: due ?? LAST_OF_ALL,
    due_down: due ?? FIRST_OF_ALL,
    done_up: done ?? LAST_OF_ALL,
    done_down: done ?? FIRST_OF_ALL,
    priority: PRIORITIES.indexOf(priority),
    // The keys of all combinations of filters that the to-do matches.
    kinds: [{}, { completed }, { priority }, { completed, priority }].map(kindOf),
    tag_sets: tagSetKeys(todo.tags),
    words: wordIndexOf(todo),
  };
}

/** `recorded` is the state that the last event reported. A direct change by a client makes the two differ. */
export function todoToDocument(todo: Todo): Record<string, unknown> {
  return { ...todoCodec.toDocument(todo), index: indexOf(todo), recorded: todoResponse(todo) };
}

/** Returns the state that the last event reported, if any. */
export function lastReportedOf(data: unknown): Pick<RemindedTodo, 'lastReported'> {
  const { recorded } = z.object({ recorded: z.optional(jsonObject) }).parse(data);
  return recorded ? { lastReported: recorded } : {};
}

/** Returns whether the index in a document matches the to-do. */
export function isIndexCurrent(todo: Todo, data: unknown): boolean {
  const { index } = z.object({ index: z.unknown() }).parse(data);
  return canonicalJson(index) === canonicalJson(indexOf(todo));
}

/** Returns a document's values of the sort fields, such as `index.created`. */
export function sortedBy(data: unknown, fields: readonly string[]): readonly number[] {
  const { index } = z.object({ index: z.record(z.string(), z.unknown()) }).parse(data);
  return fields.map((field) => Number(index[field.replace('index.', '')]));
}

/** Returns the id of the to-do that holds the guard. */
export function titleGuardFromDocument(data: unknown): string {
  return z.object({ task_id: z.string() }).parse(data).task_id;
}

const instant = z.pipe(
  z.iso.datetime(),
  z.transform((text) => new Date(text)),
);

const recordCodec = documentCodec(
  z.object({
    owner_uid: z.string(),
    occurs_on: z.nullable(z.string()),
    restored: z.exactOptional(z.int()),
    ...parentFields,
    delegated_task_id: z._default(z.nullable(z.string()), null),
    recorded: z.object({
      id: z.string(),
      title: z.string(),
      description: z.exactOptional(z.string()),
      due_date: z.exactOptional(instant),
      priority: z.enum(PRIORITIES),
      tags: z.array(z.string()),
      completed: z.boolean(),
      completed_at: z.exactOptional(instant),
      created_at: instant,
      recurring_task_id: z.exactOptional(z.string()),
    }),
  }),
);

/** Returns the to-do that a deleted document contained, in its last reported state; undefined if it is unreadable. */
export function todoFromRecord(data: unknown): Todo | undefined {
  try {
    const { recorded, ...others } = recordCodec.fromDocument(data);
    return { ...recorded, ...others };
  } catch {
    return undefined;
  }
}
