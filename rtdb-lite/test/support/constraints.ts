/** Builds the same queries with the functions of both SDKs. */
import {
  type Query as ClientQuery,
  endAt,
  endBefore,
  equalTo,
  limitToFirst,
  limitToLast,
  orderByChild,
  orderByKey,
  orderByPriority,
  orderByValue,
  type QueryConstraint,
  query,
  startAfter,
  startAt,
} from 'firebase/database';
import type { Query as AdminQuery } from 'firebase-admin/database';

type Bound = string | number | boolean | null;

export type Constraint =
  | readonly ['orderByKey' | 'orderByValue' | 'orderByPriority']
  | readonly ['orderByChild', string]
  | readonly ['startAt' | 'startAfter' | 'endAt' | 'endBefore' | 'equalTo', Bound, (string | undefined)?]
  | readonly ['limitToFirst' | 'limitToLast', number];

const clientBounds = { startAt, startAfter, endAt, endBefore, equalTo };

function clientConstraint(constraint: Constraint): QueryConstraint {
  switch (constraint[0]) {
    case 'orderByKey':
      return orderByKey();
    case 'orderByValue':
      return orderByValue();
    case 'orderByPriority':
      return orderByPriority();
    case 'orderByChild':
      return orderByChild(constraint[1]);
    case 'limitToFirst':
      return limitToFirst(constraint[1]);
    case 'limitToLast':
      return limitToLast(constraint[1]);
    default:
      return clientBounds[constraint[0]](constraint[1], constraint[2]);
  }
}

export function clientQuery(base: ClientQuery, constraints: readonly Constraint[]): ClientQuery {
  return query(base, ...constraints.map(clientConstraint));
}

/** Omits an undefined key, because the Admin SDK counts the arguments and rejects an undefined key. */
function adminBound(
  base: AdminQuery,
  [method, value, key]: readonly [BoundMethod, Bound, (string | undefined)?],
): AdminQuery {
  return key === undefined ? base[method](value) : base[method](value, key);
}

type BoundMethod = 'startAt' | 'startAfter' | 'endAt' | 'endBefore' | 'equalTo';

function adminConstraint(base: AdminQuery, constraint: Constraint): AdminQuery {
  switch (constraint[0]) {
    case 'orderByKey':
    case 'orderByValue':
    case 'orderByPriority':
      return base[constraint[0]]();
    case 'orderByChild':
      return base.orderByChild(constraint[1]);
    case 'limitToFirst':
    case 'limitToLast':
      return base[constraint[0]](constraint[1]);
    default:
      return adminBound(base, constraint);
  }
}

export function adminQuery(base: AdminQuery, constraints: readonly Constraint[]): AdminQuery {
  return constraints.reduce(adminConstraint, base);
}
