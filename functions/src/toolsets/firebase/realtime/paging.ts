/** A page of a node's children, in the order and between the bounds that a query names. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { fitting, parsedJson } from '../../../kernel/json.ts';
import type { Hashing } from '../../../kernel/ports.ts';
import type { Bound, ReadOutcome, ReadQuery } from '../rules/databaseAccess.ts';
import { invalidRequest, tooLargeWithoutIndex } from '../rules/dataErrors.ts';
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

/** @throws MusterError as toolsets/firebase/rules/errors.ts makes them */
export async function readPage(rest: CallerRest, path: string, asked: ReadQuery): Promise<ReadOutcome> {
  const { clock, hashing } = rest.ports;
  const query = checkedQuery(asked);
  const { orderBy, limit, startAt, endAt } = query;
  const cursors = new Cursors(hashing, [path, orderBy, startAt ?? null, endAt ?? null]);
  const after = asked.cursor === undefined ? undefined : cursors.decode(asked.cursor);
  const { found, begin, more, missingIndex } = await selectAfter(rest, path, query, after);
  const children = fitting(found.slice(begin, begin + limit), ({ key, data }) => ({ [key]: data }));
  const end = begin + children.length;
  return {
    // In the order of the query, but for keys that look like whole numbers: objects have those first.
    data: Object.fromEntries(children.map(({ key, data }) => [key, data])),
    count: children.length,
    timestamp: clock.now(),
    missingIndex,
    nextCursor:
      more || found.length > end
        ? cursors.encode(positionAfter(found.slice(0, end), orderBy, after?.from ?? null))
        : undefined,
  };
}

/** All children from the beginning of the query or of the cursor, and at least one more than the page where there is more. */
async function selectAfter(rest: CallerRest, path: string, query: CheckedQuery, after: Position | undefined) {
  const from = { ...query, startAt: after?.from ?? query.startAt };
  let skip = after?.given ?? 0;
  for (;;) {
    const selection = await select(rest, path, from, query.limit + 1 + skip);
    const { found, more } = selection;
    const begin = after === undefined ? 0 : found.filter((one) => compareChildren(one, after) <= 0).length;
    // Where children came in before the cursor meanwhile, they took the places of those behind it.
    if (!more || found.length - begin > query.limit || begin > MAX_TIES) return { ...selection, begin };
    skip = begin;
  }
}

/** @param given every child from where the query began (`began`, where an earlier cursor said so) to the last of the page */
function positionAfter(given: readonly Child[], orderBy: string, began: Position['from']): Position {
  const last = given.at(-1);
  if (last === undefined) throw new Error('A page that ends has a last child.');
  const { rank, key } = last;
  if (orderBy === '$key') return { from: key, given: 1, rank, key };
  const value = given.map((one) => one.rank).findLast((one) => one !== null && one !== BRANCH);
  if (value === undefined) return { from: began, given: given.length, rank, key };
  return { from: value, given: given.length - given.findIndex((one) => one.rank === value), rank, key };
}

/** So many children with one value can be paged over. */
export const MAX_TIES = 1000;

/** What firebase.read takes back. */
const LONGEST = 4000;

/**
 * Where a page ended. REST begins a query at a value, never at one of several children with that value. So a cursor
 * holds the value to begin at, how many children have been given from there on, and the last of them.
 */
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

/** Those of one query. */
export class Cursors {
  private readonly query: string;

  /** @param query whatever makes it another one: path, order, bounds */
  constructor(hashing: Hashing, query: readonly unknown[]) {
    this.query = hashing.sha256(JSON.stringify(query)).slice(0, 16);
  }

  /** @throws MusterError VALIDATION_ERROR where the ties are too many or the value too long to go on */
  encode({ rank, ...position }: Position): string {
    const content = { query: this.query, ...position, value: rank === BRANCH ? undefined : rank };
    const cursor = Buffer.from(JSON.stringify(content)).toString('base64url');
    if (position.given <= MAX_TIES && cursor.length <= LONGEST) return cursor;
    throw invalidRequest(
      'query.orderBy',
      'There is more than this, but no way to go on: too many children have the same value here, or a value is too long.',
      'Order by "$key", or ask for other bounds.',
    );
  }

  /** @throws MusterError VALIDATION_ERROR for anything but a cursor of this query */
  decode(cursor: string): Position {
    const parsed = encoded.safeParse(parsedJson(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (!parsed.success || parsed.data.query !== this.query) {
      throw invalidRequest(
        'query.cursor',
        'This is no cursor of this query.',
        'Give back metadata.nextCursor of the same query on the same path, or leave it out to begin again.',
      );
    }
    const { query, value = BRANCH, ...position } = parsed.data;
    return { ...position, rank: value };
  }
}

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
 * The children that a query selects. The database selects them where it has an index. Where it has none it refuses,
 * and Firebase's own SDKs then read the whole node and sort: so does this, within a bound.
 * Source: https://firebase.google.com/docs/database/security/indexing-data
 * @param most how many the database is asked for
 * @throws MusterError as toolsets/firebase/rules/errors.ts makes them
 */
async function select(rest: CallerRest, path: string, query: CheckedQuery, most: number): Promise<Selection> {
  const { orderBy, startAt, endAt } = query;
  const parameters = {
    orderBy: JSON.stringify(orderBy),
    limitToFirst: String(most),
    ...(startAt !== undefined && { startAt: JSON.stringify(startAt) }),
    ...(endAt !== undefined && { endAt: JSON.stringify(endAt) }),
  };
  try {
    const found = childrenIn((await rest.read({ path, parameters })).data, orderBy);
    return { found, more: found.length >= most };
  } catch (error) {
    if (!(error instanceof MusterError) || error.details.reason !== 'MISSING_INDEX') throw error;
    const missingIndex = error.details.suggestion ?? '';
    const whole = await rest.readWithin(MAX_UNINDEXED_BYTES, { path }).catch((failure: unknown) => {
      // There are rules that let a node be read by a query and not as a whole.
      throw failure instanceof MusterError && failure.details.reason === 'PERMISSION_DENIED'
        ? error
        : failure;
    });
    if (whole === undefined) throw tooLargeWithoutIndex(MAX_UNINDEXED_BYTES, missingIndex, error);
    const found = childrenIn(whole.data, orderBy).filter((child) => isBetween(child, startAt, endAt));
    return { found, more: false, missingIndex };
  }
}
