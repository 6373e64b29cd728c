/** A page of a node's children, in the order and between the bounds that a query names. */
import type { ReadQuery } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { fitting } from '../../../domain/size.ts';
import { type Cursors, MAX_TIES, type Position } from './cursor.ts';
import { BRANCH, type Child, compareChildren } from './order.ts';
import { type CheckedQuery, checkedQuery } from './query.ts';
import type { CallerRest } from './rest.ts';
import { type Selection, select } from './selecting.ts';

export interface Page {
  readonly children: readonly Child[];
  readonly nextCursor?: string;
  readonly missingIndex?: string;
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
    const { found, begin, more, missingIndex } = await this.fetch(caller, path, query, after);
    const children = fitting(found.slice(begin, begin + query.limit), ({ key, data }) => ({ [key]: data }));
    const end = begin + children.length;
    const page = { children, ...(missingIndex !== undefined && { missingIndex }) };
    if (!more && found.length <= end) return page;
    const position = positionAfter(found.slice(0, end), query.orderBy, after?.from ?? null);
    return { ...page, nextCursor: this.cursors.encode(identity, position) };
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
  ): Promise<Selection & { readonly begin: number }> {
    let skip = after?.given ?? 0;
    for (;;) {
      const most = query.limit + 1 + skip;
      const selection = await select(this.rest, caller, path, startingAt(query, after), most);
      const { found, more } = selection;
      const begin = after === undefined ? 0 : found.filter((one) => compareChildren(one, after) <= 0).length;
      // Where children came in before the cursor meanwhile, they took the places of those behind it.
      if (!more || found.length - begin > query.limit || begin > MAX_TIES) return { ...selection, begin };
      skip = begin;
    }
  }
}

/** The query that goes on where a cursor says, as far as a query can say it. */
function startingAt(query: CheckedQuery, after: Position | undefined): CheckedQuery {
  const from = after?.from ?? undefined;
  return from === undefined ? query : { ...query, startAt: from };
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
