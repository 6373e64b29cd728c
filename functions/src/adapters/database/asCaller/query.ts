/** A caller's query, checked. Source: https://firebase.google.com/docs/database/rest/retrieve-data */
import type { Bound, ReadQuery } from '../../../domain/data/access.ts';
import { invalidRequest } from '../../../domain/data/errors.ts';
import { faultOf, MAX_DEPTH } from './keys.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export interface CheckedQuery {
  /** A child's path, `$key` or `$value`. */
  readonly orderBy: string;
  readonly limit: number;
  readonly startAt?: Bound;
  readonly endAt?: Bound;
}

/** @throws MusterError VALIDATION_ERROR */
export function checkedQuery({ orderBy = '$key', limit, startAt, endAt }: ReadQuery): CheckedQuery {
  checkOrder(orderBy);
  if (orderBy === '$key') {
    checkKeyBound('query.startAt', startAt);
    checkKeyBound('query.endAt', endAt);
  }
  return {
    orderBy,
    limit: Math.min(limit ?? DEFAULT_LIMIT, MAX_LIMIT),
    ...(startAt !== undefined && { startAt }),
    ...(endAt !== undefined && { endAt }),
  };
}

function checkOrder(orderBy: string): void {
  if (orderBy === '$key' || orderBy === '$value') return;
  const keys = orderBy.split('/');
  const fault = keys.map(faultOf).find((one) => one !== undefined);
  if (fault === undefined && keys.length <= MAX_DEPTH) return;
  const what = fault === undefined ? `has more than ${MAX_DEPTH} keys` : `has a key that ${fault}`;
  throw invalidRequest(
    'query.orderBy',
    `orderBy ${what}.`,
    'Order by a child such as "created_at" or "author/name", by "$key" or by "$value".',
  );
}

function checkKeyBound(field: string, bound: Bound | undefined): void {
  if (bound === undefined) return;
  const fault = typeof bound === 'string' ? faultOf(bound) : 'is no text';
  if (fault === undefined) return;
  throw invalidRequest(
    field,
    `In the order of keys a bound is a key; this one ${fault}.`,
    'Name a key, or order by a child.',
  );
}
