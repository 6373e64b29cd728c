/** Values that the database computes. Source: https://firebase.google.com/docs/reference/rest/database */
import type { JsonValue } from '../../../domain/json.ts';
import { entriesOf } from './order.ts';

/** `{".sv": "timestamp"}`: the time of the write. */
export function isTimestamp(data: object): boolean {
  return serverValueIn(data) === 'timestamp';
}

/** The number in `{".sv": {"increment": 1}}`: so much more than before. */
export function incrementIn(data: object): number | undefined {
  const value = serverValueIn(data);
  if (typeof value !== 'object' || value === null) return undefined;
  const [entry, ...others] = Object.entries(value);
  const isIncrement = entry?.[0] === 'increment' && others.length === 0;
  return isIncrement && typeof entry[1] === 'number' ? entry[1] : undefined;
}

export function hasIncrement(data: JsonValue): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return incrementIn(data) !== undefined || entriesOf(data).some(([, child]) => hasIncrement(child));
}

/** What the increments come to over what is there. */
export function incremented(data: JsonValue, current: JsonValue): JsonValue {
  if (typeof data !== 'object' || data === null) return data;
  const increment = incrementIn(data);
  if (increment !== undefined) return increment + (typeof current === 'number' ? current : 0);
  if (!hasIncrement(data)) return data;
  const before = new Map(entriesOf(current));
  return Object.fromEntries(
    entriesOf(data).map(([key, child]) => [key, incremented(child, before.get(key) ?? null)]),
  );
}

function serverValueIn(data: object): unknown {
  const [entry, ...others] = Object.entries(data);
  return entry?.[0] === '.sv' && others.length === 0 ? entry[1] : undefined;
}
