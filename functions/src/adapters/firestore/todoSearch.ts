/**
 * Search among one owner's to-dos. The beginnings of the words of the title, and of the other words of the
 * description, are two arrays that an index knows. See docs/decisions/0017-to-do-queries.md.
 */
import { FieldPath, type Query, type QueryDocumentSnapshot } from '@google-cloud/firestore';
import { lookedUpPrefix, matchesWords } from '../../domain/search.ts';
import type { TodoPage, TodoPlace } from '../../domain/todos/query.ts';
import type { SearchedTodos } from '../../domain/todos/readers.ts';
import type { Todo } from '../../domain/todos/todo.ts';
import { TODO_FIELDS } from './todoDocument.ts';

/** How many to-dos with the rarest of several words are looked through for the other words. */
export const MAX_CANDIDATES = 1000;

const CREATED = 'index.created';

type Read = (snapshot: QueryDocumentSnapshot) => readonly Todo[];

/** A match and its place: those that match by their title alone come first, then the newer. */
interface Match {
  readonly todo: Todo;
  readonly place: TodoPlace;
}

interface Candidates {
  readonly inTitle: Query;
  readonly elsewhere: Query;
  readonly counts: readonly [inTitle: number, elsewhere: number];
}

export async function searchTodos(
  own: Query,
  words: readonly string[],
  page: TodoPage,
  readable: Read,
): Promise<SearchedTodos> {
  const candidates = await Promise.all(words.map((word) => candidatesOf(own, word)));
  const [rarest] = candidates.sort((one, other) => size(one) - size(other));
  const [only] = words;
  if (rarest === undefined || only === undefined) return { todos: [], total: 0, isComplete: true };
  const isExact = words.length === 1 && lookedUpPrefix(only) === only;
  return isExact ? pageOfOne(rarest, page, readable) : pageOfSeveral(rarest, words, page, readable);
}

function size({ counts }: Candidates): number {
  return counts[0] + counts[1];
}

async function candidatesOf(own: Query, word: string): Promise<Candidates> {
  const inTitle = newestFirst(own.where('index.title_words', 'array-contains', lookedUpPrefix(word)));
  const elsewhere = newestFirst(own.where('index.other_words', 'array-contains', lookedUpPrefix(word)));
  const [first, second] = await Promise.all([inTitle.count().get(), elsewhere.count().get()]);
  return { inTitle, elsewhere, counts: [first.data().count, second.data().count] };
}

function newestFirst(query: Query): Query {
  return query.orderBy(CREATED, 'desc').orderBy(FieldPath.documentId(), 'desc');
}

/** Of one word the two indexes say all. */
async function pageOfOne(candidates: Candidates, page: TodoPage, readable: Read): Promise<SearchedTodos> {
  const wanted = page.limit + 1;
  const isPastTitles = page.after?.order[0] === 1;
  const first = isPastTitles ? [] : await newest(candidates.inTitle, wanted, 0, page.after, readable);
  const missing = wanted - first.length;
  const place = isPastTitles ? page.after : undefined;
  const second = missing > 0 ? await newest(candidates.elsewhere, missing, 1, place, readable) : [];
  return pageOf([...first, ...second], page.limit, size(candidates), true);
}

async function newest(
  query: Query,
  limit: number,
  group: number,
  after: TodoPlace | undefined,
  readable: Read,
): Promise<readonly Match[]> {
  const rest = after === undefined ? query : query.startAfter(after.order[1] ?? 0, after.id);
  const { docs } = await rest
    .select(...TODO_FIELDS)
    .limit(limit)
    .get();
  return docs.flatMap((snapshot) => readable(snapshot).map((todo) => matchOf(todo, group)));
}

/** The rarest word says which to-dos to look at for the others. */
async function pageOfSeveral(
  candidates: Candidates,
  words: readonly string[],
  { limit, after }: TodoPage,
  readable: Read,
): Promise<SearchedTodos> {
  const [inTitle, elsewhere] = candidates.counts;
  const first = inTitle > 0 ? await newest(candidates.inTitle, MAX_CANDIDATES, 0, undefined, readable) : [];
  const room = MAX_CANDIDATES - first.length;
  const second =
    elsewhere > 0 && room > 0 ? await newest(candidates.elsewhere, room, 1, undefined, readable) : [];
  const matches = [...first, ...second]
    .filter(({ todo }) => matchesWords(`${todo.title}\n${todo.description ?? ''}`, words))
    .map(({ todo }) => matchOf(todo, matchesWords(todo.title, words) ? 0 : 1))
    .sort(inOrder);
  const rest =
    after === undefined ? matches : matches.filter((match) => inOrder(match, { place: after }) > 0);
  return pageOf(rest.slice(0, limit + 1), limit, matches.length, size(candidates) <= MAX_CANDIDATES);
}

function matchOf(todo: Todo, group: number): Match {
  return { todo, place: { order: [group, todo.createdAt.getTime()], id: todo.id } };
}

function inOrder({ place: a }: Pick<Match, 'place'>, { place: b }: Pick<Match, 'place'>): number {
  const [groupA = 0, createdA = 0] = a.order;
  const [groupB = 0, createdB = 0] = b.order;
  return groupA - groupB || createdB - createdA || (a.id < b.id ? 1 : -Number(a.id > b.id));
}

function pageOf(matches: readonly Match[], limit: number, total: number, isComplete: boolean): SearchedTodos {
  const page = matches.slice(0, limit);
  const last = matches.length > limit ? page.at(-1) : undefined;
  return { todos: page.map(({ todo }) => todo), total, isComplete, ...(last && { next: last.place }) };
}
