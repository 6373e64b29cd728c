/**
 * The children that a query selects. The database selects them where it has an index. Where it has none it refuses,
 * and Firebase's own SDKs then read the whole node and sort: so does this, within a bound.
 * Source: https://firebase.google.com/docs/database/security/indexing-data
 */
import type { Caller } from '../../../domain/data/caller.ts';
import { tooLargeWithoutIndex } from '../../../domain/data/errors.ts';
import { MusterError } from '../../../domain/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { type Child, childrenIn, isBetween } from './order.ts';
import type { CheckedQuery } from './query.ts';
import type { CallerRest } from './rest.ts';

/** What is read and sorted at most, for want of an index. */
const MAX_UNINDEXED_BYTES = 1_048_576;

export interface Selection {
  /** In the order of the query. */
  readonly found: readonly Child[];
  /** Whether there may be more than these. */
  readonly more: boolean;
  /** Where there is no index: which to add, and where. All that the query selects is then in `found`. */
  readonly missingIndex?: string;
}

/**
 * @param most how many the database is asked for
 * @throws MusterError as domain/data/errors.ts makes them
 */
export async function select(
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
