/**
 * Determines the index that a query needs, and whether it is declared. The emulator runs a query without its index,
 * but the Firestore service rejects the query. The rules are from these pages:
 *
 *   https://firebase.google.com/docs/firestore/query-data/index-overview
 *   https://firebase.google.com/docs/firestore/query-data/order-limit-data
 *   https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.collectionGroups.indexes
 *
 * - An index serves a query if its first fields are those compared for equality or by `array-contains`, in any
 *   order and direction. The range and order fields must follow, in the query's order and directions. An index
 *   is not read backwards.
 * - `in` is a disjunction of equalities, and `array-contains-any` is a disjunction of `array-contains`. All parts
 *   of a disjunction use the same index.
 * - A range field that is not an order field orders the query implicitly.
 * - Every index ends with `__name__`, in the direction of its last field (ascending after an array), and so
 *   does every query's order.
 * - The automatic index of a field serves a query on only this field, unless an override disables the index. An
 *   override of a map also applies to the fields in the map.
 *
 * Firestore can also merge the indexes of single fields to serve several equalities. Only the word search of to-dos
 * relies on merging, which is slow if each merged index has many matches. Its indexes contain one owner's to-dos.
 */
import type { CompositeIndex, DeclaredIndexes, IndexField } from '../../rules/declaredIndexes.ts';
import type { Order, RecordedQuery } from './recordedQueries.ts';

const EQUALITIES = ['EQUAL', 'IN', 'IS_NULL', 'IS_NAN'];
const CONTAINMENTS = ['ARRAY_CONTAINS', 'ARRAY_CONTAINS_ANY'];
const RANGES = [
  ...['LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL'],
  ...['NOT_EQUAL', 'NOT_IN', 'IS_NOT_NULL', 'IS_NOT_NAN'],
];

const NAME = '__name__';

/** Prefix of the fields whose automatic indexes Firestore merges. */
const MERGED = 'index.words.';

export interface Need {
  readonly collection: string;
  readonly scope: RecordedQuery['scope'];
  /** Fields that the index must have first, in any order and direction. */
  readonly equal: readonly IndexField[];
  /** Fields that must follow in this order and direction. */
  readonly ordered: readonly Order[];
}

export function needOf({ collection, scope, filters, orders }: RecordedQuery): Need {
  const withOp = (ops: readonly string[]): string[] => [
    ...new Set(filters.filter(({ op }) => ops.includes(op)).map(({ field }) => field)),
  ];
  const [equalities, arrays, ranges] = [withOp(EQUALITIES), withOp(CONTAINMENTS), withOp(RANGES)];
  if (equalities.length + arrays.length + ranges.length < new Set(filters.map(({ field }) => field)).size)
    throw new Error(`unknown operator in: ${filters.map(({ op }) => op).join(', ')}`);
  const twice = orders.filter(({ field }) => equalities.includes(field));
  if (twice.length > 0)
    throw new Error(`${collection} is ordered by a field compared for equality: ${twice[0]?.field}`);
  const equal = [
    ...equalities.map((fieldPath) => ({ fieldPath, order: 'ASCENDING' as const })),
    ...arrays.map((fieldPath) => ({ fieldPath, arrayConfig: 'CONTAINS' as const })),
  ];
  return { collection, scope, equal, ordered: withoutImpliedName(withRanges(orders, ranges)) };
}

function withRanges(orders: readonly Order[], ranges: readonly string[]): readonly Order[] {
  const direction = orders.at(-1)?.direction ?? 'ASCENDING';
  const explicit = orders.filter(({ field }) => field !== NAME);
  const names = orders.filter(({ field }) => field === NAME);
  const implicit = ranges.filter((field) => field !== NAME && !orders.some((order) => order.field === field)).sort();
  return [...explicit, ...implicit.map((field) => ({ field, direction })), ...names];
}

/** Omits a final `__name__` if its direction is the one that Firestore implies. */
function withoutImpliedName(orders: readonly Order[]): readonly Order[] {
  const last = orders.at(-1);
  if (last?.field !== NAME) return orders;
  const implied = orders.at(-2)?.direction ?? 'ASCENDING';
  return last.direction === implied ? orders.slice(0, -1) : orders;
}

export function describeNeed({ collection, scope, equal, ordered }: Need): string {
  const fields = [
    ...equal.map((field) => ('arrayConfig' in field ? `${field.fieldPath} ∋` : `${field.fieldPath} =`)).sort(),
    ...ordered.map(({ field, direction }) => `${field} ${direction === 'ASCENDING' ? '↑' : '↓'}`),
  ];
  return `${scope === 'COLLECTION' ? collection : `every ${collection}`}: ${fields.join(', ') || 'by name'}`;
}

/** Returns the index for the need: a composite index, `automatic` for Firestore's index of a field, or undefined. */
export function findIndex(need: Need, declared: DeclaredIndexes): CompositeIndex | 'automatic' | undefined {
  const fields = [
    ...need.equal,
    ...need.ordered.map(({ field, direction }) => ({ fieldPath: field, order: direction })),
  ];
  const [only, ...more] = fields;
  if (only === undefined) return need.scope === 'COLLECTION' ? 'automatic' : undefined;
  if (more.length === 0 && only.fieldPath !== NAME) {
    const directed = need.ordered.length > 0;
    return hasOwnIndex(need, only, directed, declared) ? 'automatic' : undefined;
  }
  const isMerged = fields.every(
    (field) => field.fieldPath.startsWith(MERGED) && hasOwnIndex(need, field, true, declared),
  );
  return isMerged ? 'automatic' : declared.indexes.find((index) => serves(index, need));
}

function hasOwnIndex(
  { collection, scope }: Need,
  field: IndexField,
  directed: boolean,
  declared: DeclaredIndexes,
): boolean {
  const steps = field.fieldPath.split('.');
  const paths = steps.map((_step, index) => steps.slice(0, steps.length - index).join('.'));
  const override = paths
    .map((path) => declared.fieldOverrides.find((one) => one.collectionGroup === collection && one.fieldPath === path))
    .find((one) => one !== undefined);
  if (override === undefined) return scope === 'COLLECTION';
  return override.indexes.some((index) => {
    if (index.queryScope !== scope || 'arrayConfig' in index !== 'arrayConfig' in field) return false;
    return !directed || !('order' in index) || !('order' in field) || index.order === field.order;
  });
}

function serves(index: CompositeIndex, { collection, scope, equal, ordered }: Need): boolean {
  if (index.collectionGroup !== collection || index.queryScope !== scope) return false;
  const fields = withoutDeclaredName(index.fields);
  const keyOf = (field: IndexField): string =>
    'arrayConfig' in field ? `${field.fieldPath} contains` : field.fieldPath;
  const first = fields.slice(0, equal.length).map(keyOf).sort();
  const rest = fields.slice(equal.length);
  return (
    first.join() === equal.map(keyOf).sort().join() &&
    rest.length === ordered.length &&
    rest.every((field, at) => {
      const asked = ordered[at];
      return 'order' in field && field.fieldPath === asked?.field && field.order === asked.direction;
    })
  );
}

function withoutDeclaredName(fields: readonly IndexField[]): readonly IndexField[] {
  const [last, before] = [fields.at(-1), fields.at(-2)];
  if (last === undefined || last.fieldPath !== NAME || !('order' in last)) return fields;
  const implied = before !== undefined && 'order' in before ? before.order : 'ASCENDING';
  return last.order === implied ? fields.slice(0, -1) : fields;
}
