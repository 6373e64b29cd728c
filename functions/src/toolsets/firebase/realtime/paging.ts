/** Reads a page of a node's children, in the order and between the bounds of a query. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { fittingItems, parsedJson } from '../../../kernel/json.ts';
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

/** @throws MusterError as created in toolsets/firebase/rules/dataErrors.ts */
export async function readPage(rest: CallerRest, path: string, asked: ReadQuery): Promise<ReadOutcome> {
  const { clock, hashing } = rest.ports;
  const query = checkedQuery(asked);
  const { orderBy, limit, startAt, endAt } = query;
  const cursors = new Cursors(hashing, [path, orderBy, startAt ?? null, endAt ?? null]);
  const after = asked.cursor === undefined ? undefined : cursors.decode(asked.cursor);
  const { found, begin, more, missingIndex } = await selectAfter(rest, path, query, after);
  const children = fittingItems(found.slice(begin, begin + limit), ({ key, data }) => ({ [key]: data }));
  const end = begin + children.length;
  return {
    // In query order, except that objects put integer-like keys first.
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

/** Selects the children from the query's start or the cursor; at least one more than a page, if possible. */
async function selectAfter(rest: CallerRest, path: string, query: CheckedQuery, after: RealtimeCursor | undefined) {
  const from = { ...query, startAt: after?.from ?? query.startAt };
  let skip = after?.given ?? 0;
  for (;;) {
    const selection = await select(rest, path, from, query.limit + 1 + skip);
    const { found, more } = selection;
    const begin = after === undefined ? 0 : found.filter((one) => compareChildren(one, after) <= 0).length;
    // Children that were added before the cursor displaced those after it.
    if (!more || found.length - begin > query.limit || begin > MAX_TIES) return { ...selection, begin };
    skip = begin;
  }
}

/** @param given all children from the query's start (`startedAt`, if from an earlier cursor) to the last of the page */
function positionAfter(given: readonly Child[], orderBy: string, startedAt: RealtimeCursor['from']): RealtimeCursor {
  const last = given.at(-1);
  if (last === undefined) throw new Error('A page with a successor must have a last child.');
  const { rank, key } = last;
  if (orderBy === '$key') return { from: key, given: 1, rank, key };
  const value = given.map((one) => one.rank).findLast((one) => one !== null && one !== BRANCH);
  if (value === undefined) return { from: startedAt, given: given.length, rank, key };
  return { from: value, given: given.length - given.findIndex((one) => one.rank === value), rank, key };
}

/** Maximum number of children with an equal value that can be paged. */
export const MAX_TIES = 1000;

/** Maximum length of a cursor that firebase.read accepts. */
const MAX_CURSOR_LENGTH = 4000;

/**
 * Position after a page. A REST query starts at a value, never at one of several children with that value. So a
 * cursor contains the value to start at, the number of children returned from there on, and the last of them.
 */
export interface RealtimeCursor {
  /** Bound to start at; null for the query's own start. */
  readonly from: Bound | null;
  /** Number of children from `from` to the last one returned. */
  readonly given: number;
  /** The last child returned. */
  readonly rank: Rank;
  readonly key: string;
}

const bound = z.union([z.string(), z.number(), z.boolean()]).nullable();

const encoded = z.strictObject({
  /** Digest of the query: a cursor is valid only for its own query. */
  query: z.string(),
  from: bound,
  given: z.int().min(1).max(MAX_TIES),
  /** Absent for a child ordered by a node with children. */
  value: bound.optional(),
  key: z.string().max(768),
});

/** Encodes and decodes the cursors of one query. */
export class Cursors {
  private readonly query: string;

  /** @param query everything that identifies the query: path, order, bounds */
  constructor(hashing: Hashing, query: readonly unknown[]) {
    this.query = hashing.sha256(JSON.stringify(query)).slice(0, 16);
  }

  /** @throws MusterError VALIDATION_ERROR if there are too many ties or the value is too long to continue */
  encode({ rank, ...position }: RealtimeCursor): string {
    const content = { query: this.query, ...position, value: rank === BRANCH ? undefined : rank };
    const cursor = Buffer.from(JSON.stringify(content)).toString('base64url');
    if (position.given <= MAX_TIES && cursor.length <= MAX_CURSOR_LENGTH) return cursor;
    throw invalidRequest(
      'query.orderBy',
      'Cannot continue after this page: too many children have the same value, or a value is too long.',
      'Order by "$key", or use other bounds.',
    );
  }

  /** @throws MusterError VALIDATION_ERROR for anything except a cursor of this query */
  decode(cursor: string): RealtimeCursor {
    const parsed = encoded.safeParse(parsedJson(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (!parsed.success || parsed.data.query !== this.query) {
      throw invalidRequest(
        'query.cursor',
        'Invalid cursor for this query.',
        'Send metadata.nextCursor of the same query and path, or omit cursor to start over.',
      );
    }
    const { query, value = BRANCH, ...position } = parsed.data;
    return { ...position, rank: value };
  }
}

/** Maximum size of a node that is read and sorted without an index. */
const MAX_UNINDEXED_BYTES = 1_048_576;

interface Selection {
  /** In query order. */
  readonly found: readonly Child[];
  /** Whether there may be more children. */
  readonly more: boolean;
  /** Missing index to add, and where. `found` then contains all children that the query selects. */
  readonly missingIndex?: string;
}

/**
 * Returns the children that a query selects. Without an index the database rejects the query. Firebase's own SDKs
 * then read the whole node and sort it, and so does this function, up to a limit.
 * Source: https://firebase.google.com/docs/database/security/indexing-data
 * @param max number of children to request from the database
 * @throws MusterError as created in toolsets/firebase/rules/dataErrors.ts
 */
async function select(rest: CallerRest, path: string, query: CheckedQuery, max: number): Promise<Selection> {
  const { orderBy, startAt, endAt } = query;
  const parameters = {
    orderBy: JSON.stringify(orderBy),
    limitToFirst: String(max),
    ...(startAt !== undefined && { startAt: JSON.stringify(startAt) }),
    ...(endAt !== undefined && { endAt: JSON.stringify(endAt) }),
  };
  try {
    const found = childrenIn((await rest.read({ path, parameters })).data, orderBy);
    return { found, more: found.length >= max };
  } catch (error) {
    if (!(error instanceof MusterError) || error.details.reason !== 'MISSING_INDEX') throw error;
    const missingIndex = error.details.suggestion ?? '';
    const whole = await rest.readWithin(MAX_UNINDEXED_BYTES, { path }).catch((failure: unknown) => {
      // Some rules allow reading a node with a query, but not as a whole.
      throw failure instanceof MusterError && failure.details.reason === 'PERMISSION_DENIED' ? error : failure;
    });
    if (whole === undefined) throw tooLargeWithoutIndex(MAX_UNINDEXED_BYTES, missingIndex, error);
    const found = childrenIn(whole.data, orderBy).filter((child) => isBetween(child, startAt, endAt));
    return { found, more: false, missingIndex };
  }
}
