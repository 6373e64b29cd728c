/** A page of a node's children, in the order and between the bounds that a query names. */
import type { ReadQuery } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { type Cursors, MAX_TIES, type Position } from './cursor.ts';
import { BRANCH, type Child, childrenIn, compareChildren } from './order.ts';
import { type CheckedQuery, checkedQuery } from './query.ts';
import type { CallerRest } from './rest.ts';

export interface Page {
  readonly children: readonly Child[];
  readonly nextCursor?: string;
}

export class Paging {
  private readonly rest: CallerRest;
  private readonly cursors: Cursors;

  constructor(rest: CallerRest, cursors: Cursors) {
    this.rest = rest;
    this.cursors = cursors;
  }

  /** @throws MusterError as domain/data/errors.ts makes them */
  async page(caller: Caller, path: string, asked: ReadQuery): Promise<Page> {
    const query = checkedQuery(asked);
    const identity = [path, query.orderBy, query.startAt ?? null, query.endAt ?? null];
    const after = asked.cursor === undefined ? undefined : this.cursors.decode(identity, asked.cursor);
    const { found, begin, more } = await this.fetch(caller, path, query, after);
    const end = begin + query.limit;
    const children = found.slice(begin, end);
    if (!more && found.length <= end) return { children };
    const position = positionAfter(found.slice(0, end), query.orderBy, after?.from ?? null);
    return { children, nextCursor: this.cursors.encode(identity, position) };
  }

  /**
   * All children from the beginning of the query or the cursor's, those that were given already included, and
   * at least one more than the page: it tells that there is more.
   */
  private async fetch(
    caller: Caller,
    path: string,
    query: CheckedQuery,
    after: Position | undefined,
  ): Promise<{ found: readonly Child[]; begin: number; more: boolean }> {
    let skip = after?.given ?? 0;
    for (;;) {
      const most = query.limit + 1 + skip;
      const parameters = parametersFor(query, after, most);
      const { data } = await this.rest.read(caller, { path, parameters });
      const found = childrenIn(data, query.orderBy);
      const begin = after === undefined ? 0 : found.filter((one) => compareChildren(one, after) <= 0).length;
      const more = found.length >= most;
      // Where children came in before the cursor meanwhile, they took the places of those behind it.
      if (!more || found.length - begin > query.limit || begin > MAX_TIES) return { found, begin, more };
      skip = begin;
    }
  }
}

function parametersFor(query: CheckedQuery, after: Position | undefined, most: number) {
  const startAt = after?.from ?? query.startAt;
  return {
    orderBy: JSON.stringify(query.orderBy),
    limitToFirst: String(most),
    ...(startAt !== undefined && { startAt: JSON.stringify(startAt) }),
    ...(query.endAt !== undefined && { endAt: JSON.stringify(query.endAt) }),
  };
}

/**
 * @param given every child from where the query began, up to the last of the page
 * @param began what the query began at, where an earlier cursor said so
 */
function positionAfter(given: readonly Child[], orderBy: string, began: Position['from']): Position {
  const last = given.at(-1);
  if (last === undefined) throw new Error('A page that ends has a last child.');
  const { rank, key } = last;
  if (orderBy === '$key') return { from: key, given: 1, rank, key };
  const value = given.map((one) => one.rank).findLast((one) => one !== null && one !== BRANCH);
  if (value === undefined) return { from: began, given: given.length, rank, key };
  const first = given.findIndex((one) => one.rank === value);
  return { from: value, given: given.length - first, rank, key };
}

/** In the order of the query, but for keys that look like whole numbers: objects have those first. */
export function asObject(children: readonly Child[]): JsonValue {
  return Object.fromEntries(children.map(({ key, data }) => [key, data]));
}
