import { isRecord } from '../tree/json.ts';
import { firstKey, lastKey } from '../tree/order.ts';
import type { Query } from '../tree/query.ts';
import { HttpError } from './errors.ts';

const bounds = ['startAt', 'startAfter', 'endAt', 'endBefore', 'equalTo'] as const;
const limits = ['limitToFirst', 'limitToLast'] as const;

/** Returns the query that a GET request's parameters describe. */
export function queryFrom(parameters: URLSearchParams): Query | null {
  if (!parameters.has('orderBy')) {
    const needsOrder = [...bounds, ...limits].some((name) => parameters.has(name));
    if (needsOrder && parameters.get('shallow') !== 'true')
      throw new HttpError(400, 'orderBy must be defined when other query parameters are defined');
    return null;
  }
  return { ...orderFrom(parameters), ...startFrom(parameters), ...endFrom(parameters), ...limitFrom(parameters) };
}

/** Returns the value of a query parameter, and the key that may follow the value after a comma. */
function argument(parameters: URLSearchParams, name: string): [unknown, string | undefined] {
  try {
    const list: unknown = JSON.parse(`[${parameters.get(name)}]`);
    const [value, key] = Array.isArray(list) ? list : [];
    if (isRecord(value)) throw new Error('not a primitive');
    return [value, typeof key === 'string' ? key : undefined];
  } catch {
    throw new HttpError(400, 'Constraint index field must be a JSON primitive');
  }
}

function orderFrom(parameters: URLSearchParams): Query {
  const [by] = argument(parameters, 'orderBy');
  if (typeof by !== 'string') throw new HttpError(400, 'orderBy must be a valid JSON encoded path');
  if (by === '$priority') return {};
  if (by === '$key') return { i: '.key' };
  return { i: by === '$value' ? '.value' : by };
}

function startFrom(parameters: URLSearchParams): Query {
  const name = ['equalTo', 'startAfter', 'startAt'].find((one) => parameters.has(one));
  if (name === undefined) return {};
  const [sp, key] = argument(parameters, name);
  const isInclusive = name !== 'startAfter';
  const sn = key ?? (isInclusive ? undefined : lastKey);
  return { sp, sin: isInclusive, ...(sn !== undefined && { sn }) };
}

function endFrom(parameters: URLSearchParams): Query {
  const name = ['equalTo', 'endBefore', 'endAt'].find((one) => parameters.has(one));
  if (name === undefined) return {};
  const [ep, key] = argument(parameters, name);
  const isInclusive = name !== 'endBefore';
  const en = key ?? (isInclusive ? undefined : firstKey);
  return { ep, ein: isInclusive, ...(en !== undefined && { en }) };
}

/** Returns the fields of the query that describe the limit; empty if there is no limit. */
export function limitFrom(parameters: URLSearchParams): Query {
  const name = limits.findLast((one) => parameters.has(one));
  if (name === undefined) return {};
  const limit = Number(parameters.get(name));
  if (!Number.isInteger(limit) || limit <= 0) throw new HttpError(400, `${name} must be a positive integer`);
  return { l: limit, vf: name === 'limitToFirst' ? 'l' : 'r' };
}
