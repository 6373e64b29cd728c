/** A page of a node's children, in the order and between the bounds that a query names. */

import { z } from 'zod';
import type { Caller } from '../../../access/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { fitting, type JsonValue, parsedJson } from '../../../kernel/json.ts';
import type { Hashing } from '../../../kernel/ports.ts';
import type { Bound, ReadQuery } from '../rules/access.ts';
import { invalidRequest, tooLargeWithoutIndex } from '../rules/errors.ts';
import {
  BRANCH,
  type CheckedQuery,
  type Child,
  checkedQuery,
  childrenIn,
  compareChildren,
  isBetween,
  type Rank,
} from './order.ts';
import type { CallerRest } from './rest.ts';

interface Page {
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

  /** @throws MusterError as toolsets/firebase/rules/errors.ts makes them */
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

// Where a page ended. REST begins a query at a value, never at one of several children with that value. So
// a cursor holds the value to begin at, how many children have been given from there on, and the last of
// them.

/** So many children with one value can be paged over. */
export const MAX_TIES = 1000;

/** What firebase.read takes back. */
const LONGEST = 4000;

export interface Position {
  /** The bound to begin at; null where that is the query's own beginning. */
  readonly from: Bound | null;
  /** How many children there were from `from` to the last one that was given. */
  readonly given: number;
  /** The last child that was given. */
  readonly rank: Rank;
  readonly key: string;
}

const bound = z.union([z.string(), z.number(), z.boolean()]).nullable();

const encoded = z.strictObject({
  /** A digest of the query: a cursor goes on with its own and with no other. */
  query: z.string(),
  from: bound,
  given: z.int().min(1).max(MAX_TIES),
  /** Absent for a child that is ordered by something with children. */
  value: bound.optional(),
  key: z.string().max(768),
});

export class Cursors {
  private readonly hashing: Hashing;

  constructor(hashing: Hashing) {
    this.hashing = hashing;
  }

  /**
   * @param query whatever makes it another one: path, order, bounds
   * @throws MusterError VALIDATION_ERROR where the ties are too many or the value too long to go on
   */
  encode(query: readonly unknown[], { from, given, rank, key }: Position): string {
    const value = rank === BRANCH ? {} : { value: rank };
    const content = { query: this.digest(query), from, given, key, ...value };
    const cursor = Buffer.from(JSON.stringify(content)).toString('base64url');
    if (given <= MAX_TIES && cursor.length <= LONGEST) return cursor;
    throw invalidRequest(
      'query.orderBy',
      'There is more than this, but no way to go on: too many children have the same value here, or a value is too long.',
      'Order by "$key", or ask for other bounds.',
    );
  }

  /** @throws MusterError VALIDATION_ERROR for anything but a cursor of this query */
  decode(query: readonly unknown[], cursor: string): Position {
    const parsed = encoded.safeParse(parsedJson(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (!parsed.success || parsed.data.query !== this.digest(query)) {
      throw invalidRequest(
        'query.cursor',
        'This is no cursor of this query.',
        'Give back metadata.nextCursor of the same query on the same path, or leave it out to begin again.',
      );
    }
    const { from, given, value, key } = parsed.data;
    return { from, given, key, rank: value === undefined ? BRANCH : value };
  }

  private digest(query: readonly unknown[]): string {
    return this.hashing.sha256(JSON.stringify(query)).slice(0, 16);
  }
}

// The children that a query selects. The database selects them where it has an index. Where it has none it
// refuses, and Firebase's own SDKs then read the whole node and sort: so does this, within a bound. Source:
// https://firebase.google.com/docs/database/security/indexing-data

/** What is read and sorted at most, for want of an index. */
const MAX_UNINDEXED_BYTES = 1_048_576;

interface Selection {
  /** In the order of the query. */
  readonly found: readonly Child[];
  /** Whether there may be more than these. */
  readonly more: boolean;
  /** Where there is no index: which to add, and where. All that the query selects is then in `found`. */
  readonly missingIndex?: string;
}

/**
 * @param most how many the database is asked for
 * @throws MusterError as toolsets/firebase/rules/errors.ts makes them
 */
async function select(
  rest: CallerRest,
  caller: Caller,
  path: string,
  query: CheckedQuery,
  most: number,
): Promise<Selection> {
  try {
    const { data } = await rest.read(caller, { path, parameters: parametersFor(query, most) });
    const found = childrenIn(data, query.orderBy);
    return { found, more: found.length >= most };
  } catch (error) {
    if (!(error instanceof MusterError) || error.details.reason !== 'MISSING_INDEX') throw error;
    const definition = error.details.suggestion ?? '';
    const data = await wholeNode(rest, caller, path, definition, error);
    const { orderBy, startAt, endAt } = query;
    const found = childrenIn(data, orderBy).filter((child) => isBetween(child, startAt, endAt));
    return { found, more: false, missingIndex: definition };
  }
}

async function wholeNode(
  rest: CallerRest,
  caller: Caller,
  path: string,
  definition: string,
  refusal: MusterError,
): Promise<JsonValue> {
  const answer = await rest.readWithin(caller, { path }, MAX_UNINDEXED_BYTES).catch((error: unknown) => {
    // There are rules that let a node be read by a query and not as a whole.
    if (error instanceof MusterError && error.details.reason === 'PERMISSION_DENIED') throw refusal;
    throw error;
  });
  if (answer === undefined) throw tooLargeWithoutIndex(MAX_UNINDEXED_BYTES, definition, refusal);
  return answer.data;
}

function parametersFor({ orderBy, startAt, endAt }: CheckedQuery, most: number) {
  return {
    orderBy: JSON.stringify(orderBy),
    limitToFirst: String(most),
    ...(startAt !== undefined && { startAt: JSON.stringify(startAt) }),
    ...(endAt !== undefined && { endAt: JSON.stringify(endAt) }),
  };
}
