/** Reads one page of a node's children, sorted and within the bounds of a query. */
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

/** @throws MusterError as toolsets/firebase/rules/dataErrors.ts creates them */
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
    // The data is in the order of the query, except that JavaScript puts integer keys first.
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

/** Reads children from the query's start or from the cursor: if possible, at least one more than a page contains. */
async function selectAfter(rest: CallerRest, path: string, query: CheckedQuery, after: RealtimeCursor | undefined) {
  const from = { ...query, startAt: after?.from ?? query.startAt };
  let skip = after?.given ?? 0;
  for (;;) {
    const selection = await select(rest, path, from, query.limit + 1 + skip);
    const { found, more } = selection;
    const begin = after === undefined ? 0 : found.filter((one) => compareChildren(one, after) <= 0).length;
    // Children that were added before the cursor's position are part of the result, so more children must be read.
    if (!more || found.length - begin > query.limit || begin > MAX_TIES) return { ...selection, begin };
    skip = begin;
  }
}

/** @param given children up to the end of the page, from the start of the query or from the value `startedAt` on */
function positionAfter(given: readonly Child[], orderBy: string, startedAt: RealtimeCursor['from']): RealtimeCursor {
  const last = given.at(-1);
  if (last === undefined) throw new Error('A page that is followed by another page must have a last child.');
  const { rank, key } = last;
  if (orderBy === '$key') return { from: key, given: 1, rank, key };
  const value = given.map((one) => one.rank).findLast((one) => one !== null && one !== BRANCH);
  if (value === undefined) return { from: startedAt, given: given.length, rank, key };
  return { from: value, given: given.length - given.findIndex((one) => one.rank === value), rank, key };
}

/** Maximum number of children with equal values for which a next page is possible. */
export const MAX_TIES = 1000;
const MAX_CURSOR_LENGTH = 4000;

/**
 * A position after a page. A REST query can start at a value, but not at one of several children with the same value.
 * Therefore the position consists of a value and the number of children from that value to the end of the page.
 */
export interface RealtimeCursor {
  /** Value at which the next query starts; null if it starts where the original query starts. */
  readonly from: Bound | null;
  /** Number of children from the value `from` to the last child of the page. */
  readonly given: number;
  /** Value and key by which the last child of the page is sorted. */
  readonly rank: Rank;
  readonly key: string;
}

const bound = z.union([z.string(), z.number(), z.boolean()]).nullable();

const encoded = z.strictObject({
  /** Hash of the query, because a cursor is valid only for the query that returned it. */
  query: z.string(),
  from: bound,
  given: z.int().min(1).max(MAX_TIES),
  /** Absent if the sort path of the child leads to a node with children, which has no sort value. */
  value: bound.optional(),
  key: z.string().max(768),
});

export class Cursors {
  private readonly query: string;

  /** @param query all parts that define the query: path, order and bounds */
  constructor(hashing: Hashing, query: readonly unknown[]) {
    this.query = hashing.sha256(JSON.stringify(query)).slice(0, 16);
  }

  /** @throws MusterError VALIDATION_ERROR if no next page is possible: too many equal values, or a too long value */
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

  /** @throws MusterError VALIDATION_ERROR if the text is not a cursor of this query */
  decode(cursor: string): RealtimeCursor {
    const parsed = encoded.safeParse(parsedJson(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (!parsed.success || parsed.data.query !== this.query)
      throw invalidRequest(
        'query.cursor',
        'Invalid cursor for this query.',
        'Send metadata.nextCursor of the same query and path, or omit cursor to start over.',
      );
    const { query, value = BRANCH, ...position } = parsed.data;
    return { ...position, rank: value };
  }
}

/** Maximum size in bytes of a node that is sorted here if an index is missing. */
const MAX_UNINDEXED_BYTES = 1_048_576;

interface Selection {
  readonly found: readonly Child[];
  readonly more: boolean;
  /** Describes the missing index and where to add it. If present, `found` contains all children of the query. */
  readonly missingIndex?: string;
}

/**
 * Returns the children that a query selects. If an index is missing, the database rejects the query. In this case,
 * the function reads the whole node, up to a maximum size, and sorts it, as Firebase's SDKs do. Source:
 * https://firebase.google.com/docs/database/security/indexing-data
 * @param max number of children to request from the database
 * @throws MusterError as toolsets/firebase/rules/dataErrors.ts creates them
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
      // Some security rules allow a query on a node, but do not allow reading the whole node.
      throw failure instanceof MusterError && failure.details.reason === 'PERMISSION_DENIED' ? error : failure;
    });
    if (whole === undefined) throw tooLargeWithoutIndex(MAX_UNINDEXED_BYTES, missingIndex, error);
    const found = childrenIn(whole.data, orderBy).filter((child) => isBetween(child, startAt, endAt));
    return { found, more: false, missingIndex };
  }
}
