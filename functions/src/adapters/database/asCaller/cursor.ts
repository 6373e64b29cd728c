/**
 * Where a page ended. REST begins a query at a value, never at one of several children with that value. So a
 * cursor holds the value to begin at, how many children have been given from there on, and the last of them.
 */
import { z } from 'zod';
import type { Bound } from '../../../domain/data/access.ts';
import { invalidRequest } from '../../../domain/data/errors.ts';
import type { Hashing } from '../../../domain/ports.ts';
import { BRANCH, type Rank } from './order.ts';

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
    const parsed = encoded.safeParse(contentOf(cursor));
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

function contentOf(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
