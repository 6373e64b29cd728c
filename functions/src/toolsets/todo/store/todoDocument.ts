/**
 * The words of a to-do as search finds them: every beginning of every word is a field of its own, with the owner
 * as its value. Firestore keeps an ascending index of each such field, which is the list of one owner's to-dos
 * with that word, and answers several equalities from several of these lists at once.
 * See docs/decisions/0017-to-do-queries-and-search.md.
 */

import { z } from 'zod/mini';
import { placeFields } from '../../../graph/rules/graphNode.ts';
import { documentCodec } from '../../../kernel/documentCodec.ts';
import { canonicalJson, jsonObject } from '../../../kernel/json.ts';
import { systemHashing } from '../../../kernel/platform.ts';
import { prefixesOf } from '../../../kernel/words.ts';
import {
  caseFolded,
  PRIORITIES,
  type RemindedTodo,
  type Todo,
  type TodoFilter,
  todoAnswer,
  todoCodec,
} from '../rules/todo.ts';

/** Where a to-do has a word: in its title, only in its description, or in either. */
type WordPlace = 'title' | 'rest' | 'any';

export type WordIndex = Readonly<Record<WordPlace, Readonly<Record<string, string>>>>;

type Worded = Pick<Todo, 'owner_uid' | 'title' | 'description'>;

/**
 * What the words of one to-do may take of its document, in bytes: room for a usual text of 5,000 letters. A text of
 * nothing but long words would take several times that.
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
 * "Has all of these tags" is then one read of one index. See docs/decisions/0017-to-do-queries-and-search.md.
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

/** Later and earlier than every date: where there is none, a to-do comes last either way. */
export const [LAST_OF_ALL, FIRST_OF_ALL] = [8.64e15, -8.64e15];

export function priorityRank(priority: Todo['priority']): number {
  return PRIORITIES.indexOf(priority);
}

/** What a list asks for beside tags and dates, as one key: `all`, `open`, `HIGH`, `open HIGH`. */
export function kindOf({ completed, priority }: Pick<TodoFilter, 'completed' | 'priority'>): string {
  const state = completed ? 'done' : 'open';
  return [...(completed === undefined ? [] : [state]), ...(priority ? [priority] : [])].join(' ') || 'all';
}

/** What queries go by. Times are in milliseconds of the epoch, so that cursors are numbers. */
function indexOf(todo: Todo) {
  const { completed, priority } = todo;
  const [due, done] = [todo.due_date?.getTime(), todo.completed_at?.getTime()];
  return {
    created: todo.created_at.getTime(),
    due_up: due ?? LAST_OF_ALL,
    due_down: due ?? FIRST_OF_ALL,
    done_up: done ?? LAST_OF_ALL,
    done_down: done ?? FIRST_OF_ALL,
    priority: priorityRank(priority),
    // All kinds that it is one of.
    kinds: [{}, { completed }, { priority }, { completed, priority }].map(kindOf),
    tag_sets: tagSetKeys(todo.tags),
    words: wordIndexOf(todo),
  };
}

/** `recorded` is the to-do as its last event reported it: what somebody changes past the tools differs from it. */
export function todoToDocument(todo: Todo): Record<string, unknown> {
  return { ...todoCodec.toDocument(todo), index: indexOf(todo), recorded: todoAnswer(todo) };
}

/** The to-do as its last event reported it, where it has one. */
export function lastReportedOf(data: unknown): Pick<RemindedTodo, 'lastReported'> {
  const { recorded } = z.object({ recorded: z.optional(jsonObject) }).parse(data);
  return recorded ? { lastReported: recorded } : {};
}

/** Whether a document's index is the one that its to-do has. */
export function isIndexCurrent(todo: Todo, data: unknown): boolean {
  const { index } = z.object({ index: z.unknown() }).parse(data);
  return canonicalJson(index) === canonicalJson(indexOf(todo));
}

/** The values of a document in fields of the index, `index.created`. */
export function sortedBy(data: unknown, fields: readonly string[]): readonly number[] {
  const { index } = z.object({ index: z.record(z.string(), z.unknown()) }).parse(data);
  return fields.map((field) => Number(index[field.replace('index.', '')]));
}

/** The id of the to-do that has the title. */
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
    ...placeFields,
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

/** A to-do from a document that is gone, as its last event told of it; undefined where that cannot be read. */
export function todoFromRecord(data: unknown): Todo | undefined {
  try {
    const { recorded, ...others } = recordCodec.fromDocument(data);
    return { ...recorded, ...others };
  } catch {
    return undefined;
  }
}
