/** Search among one owner's to-dos. See docs/decisions/0020-search-by-merged-indexes.md. */

import { FieldPath, type Query, type QueryDocumentSnapshot } from '@google-cloud/firestore';
import { fitting } from '../../../kernel/json.ts';
import type { FoundTodos, Todo, TodoPage } from '../rules/todo.ts';
import { TODO_FIELDS } from '../rules/todo.ts';
import { anywhere, type SoughtWord, waysOfHaving } from './todoDocument.ts';

type Having = (sought: readonly SoughtWord[]) => Query;

/** A to-do that was found, and in which of the ways of having the words. */
interface Match {
  readonly way: number;
  readonly snapshot: QueryDocumentSnapshot;
}

export async function searchTodos(
  todos: Query,
  ownerUid: string,
  words: readonly string[],
  page: TodoPage,
  readable: (snapshot: QueryDocumentSnapshot) => readonly Todo[],
): Promise<FoundTodos> {
  const having: Having = (sought) =>
    sought.reduce(
      (query, { place, word }) => query.where(new FieldPath('index', 'words', place, word), '==', ownerUid),
      todos,
    );
  const { matches, total } = await firstMatches(having, words, page);
  const shown = fitting(matches.slice(0, page.limit), ({ snapshot }) => snapshot.data());
  const last = matches.length > shown.length ? shown.at(-1) : undefined;
  return {
    todos: shown
      .flatMap(({ way, snapshot }) => readable(snapshot).map((todo) => ({ way, todo })))
      .sort((a, b) => a.way - b.way || b.todo.createdAt.getTime() - a.todo.createdAt.getTime())
      .map(({ todo }) => todo),
    total,
    ...(last && { next: { order: [last.way], id: last.snapshot.id } }),
  };
}

/** Those of a page and one more, way by way, until that is known to be all. */
async function firstMatches(having: Having, words: readonly string[], { limit, after }: TodoPage) {
  const ways = waysOfHaving(words);
  const begin = after?.order[0] ?? 0;
  const read = async (way: number, wanted: number, afterId?: string): Promise<readonly Match[]> => {
    const sought = ways[way];
    if (sought === undefined) return []; // a cursor can say anything
    const ordered = having(sought).orderBy(FieldPath.documentId());
    const rest = afterId === undefined ? ordered : ordered.startAfter(afterId);
    const { docs } = await rest
      .select(...TODO_FIELDS)
      .limit(wanted)
      .get();
    return docs.map((snapshot) => ({ way, snapshot }));
  };
  const counting = having(anywhere(words)).count();
  const [counted, started] = await Promise.all([counting.get(), read(begin, limit + 1, after?.id)]);
  const { count: total } = counted.data();
  const matches = [...started];
  for (let way = begin + 1; way < ways.length; way++) {
    const isAll = after === undefined && matches.length >= total;
    if (isAll || matches.length > limit) break;
    matches.push(...(await read(way, limit + 1 - matches.length)));
  }
  return { matches, total };
}
