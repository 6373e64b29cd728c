/**
 * Each query has the Firestore index that it needs, and each declared index is used. The test records the queries
 * that the stores send. The rules in indexes/need.ts determine which indexes these queries need.
 */
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { Firestore } from '@google-cloud/firestore';
import * as queryModule from '../../console/src/live/queries.ts';
import { permissions } from '../../functions/src/access/rules/permissions.ts';
import { type DeclaredIndexes, declaredIndexes, describeFields } from '../rules/declaredIndexes.ts';
import { storedNames, storedVersions } from '../stored/documents.ts';
import { consoleQueries, sent } from './indexes/consoleQueries.ts';
import { describeNeed, findIndex, needOf } from './indexes/need.ts';
import { type RecordedQuery, recordQueries } from './indexes/recordedQueries.ts';
import { isQueryBuilding, observe, type Untaken } from './indexes/untaken.ts';

const source = new URL('../../functions/src/', import.meta.url);

const isQuery = (name: string): boolean =>
  typeof Object.entries(queryModule).find(([known]) => known === name)?.[1] === 'function';

describe('the indexes of Firestore', () => {
  const declared = declaredIndexes();
  let queries: readonly RecordedQuery[] = [];
  let untaken: readonly Untaken[] = [];
  let called: readonly string[] = [];

  before(async () => {
    const observation = await observe();
    const { APART, calls } = await import('./indexes/readers.ts');
    const database = new Firestore({ projectId: 'demo-muster-indexes' });
    queries = recordQueries(database);
    for (const each of Object.values(calls).flat()) await each(database);
    for (const asked of Object.values(consoleQueries()).flat()) await sent(database, asked);
    await database.terminate();
    untaken = await observation.end(APART);
    called = Object.keys(calls);
  });

  it('serve every query', () => {
    assert.notEqual(queries.length, 0);
    const missing = queries.map(needOf).filter((need) => findIndex(need, declared) === undefined);
    assert.deepEqual(missing.map(describeNeed), [], 'firestore.indexes.json lacks these indexes');
  });

  it('are all used: each index serves at least one query', () => {
    const used = new Set(queries.map((query) => findIndex(needOf(query), declared)));
    const unused = declared.indexes.filter((index) => !used.has(index));
    const spare = unused.map((index) => `${index.collectionGroup}: ${describeFields(index.fields)}`);
    assert.deepEqual(spare, []);
  });

  it('exclude large fields and fields with many entries, unless a query uses them', () => {
    const named = new Set(
      queries.flatMap(({ collection, filters, orders }) =>
        [...filters, ...orders].map(({ field }) => `${collection} ${field}`),
      ),
    );
    const exempt = new Set(
      declared.fieldOverrides.map(({ collectionGroup, fieldPath }) => `${collectionGroup} ${fieldPath}`),
    );
    const isNamed = (field: string) => [...named].some((one) => one === field || one.startsWith(`${field}.`));
    const indexed = storedFields().filter((field) => !exempt.has(field) && !isNamed(field));
    assert.deepEqual(indexed, [], 'add these fields to the fieldOverrides of firestore.indexes.json');
  });

  it('stay below the limits of a database', () => {
    // Limits with billing enabled. Source: https://firebase.google.com/docs/firestore/quotas#indexes
    assert.ok(declared.fieldOverrides.length <= 1000);
    assert.ok(declared.indexes.length <= 1000);
  });

  it('are checked against every query of the console', () =>
    assert.deepEqual(Object.keys(consoleQueries()).sort(), Object.keys(queryModule).filter(isQuery).sort()));

  it('are checked against every method of the stores, in every variant of its query', () =>
    assert.deepEqual(untaken.filter(isQueryBuilding), [], 'add calls that execute this code to indexes/readers.ts'));

  it('are checked against every file that queries Firestore', () => {
    const querying = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      // Callers choose the queries of these files. They have at most one order, which an automatic index serves.
      .filter((file) => !file.startsWith('toolsets/firebase/firestore/'))
      .filter((file) =>
        /\.(where|orderBy|collection|collectionGroup)\(/.test(readFileSync(new URL(file, source), 'utf8')),
      );
    // The queries of reading.ts are recorded in the calls of the readers that use reading.ts.
    const expected = [...called, 'kernel/firestore/reading.ts'];
    assert.deepEqual(querying.sort(), expected.sort());
  });

  it('fail the check of this test if one is removed or if a needed field is excluded', () => {
    const isServed = (rest: DeclaredIndexes): boolean =>
      queries.every((query) => findIndex(needOf(query), rest) !== undefined);
    for (const index of declared.indexes)
      assert.equal(isServed({ ...declared, indexes: declared.indexes.filter((one) => one !== index) }), false);
    const words = declared.fieldOverrides.filter(({ fieldPath }) => fieldPath !== 'index.words');
    assert.equal(isServed({ ...declared, fieldOverrides: words }), false);
    const exempt = { collectionGroup: 'credentials', fieldPath: 'agent_id', indexes: [] };
    assert.equal(isServed({ ...declared, fieldOverrides: [...declared.fieldOverrides, exempt] }), false);
  });
});

describe('the index that an example of the documentation needs', () => {
  const none: DeclaredIndexes = { indexes: [], fieldOverrides: [] };
  const automatic = 'automatic';
  const examples: readonly [filters: string, orders: string, expected: string][] = [
    ['state EQUAL', '', automatic],
    ['state GREATER_THAN_OR_EQUAL, state LESS_THAN', '', automatic],
    ['regions ARRAY_CONTAINS', '', automatic],
    ['', 'population DESCENDING', automatic],
    ['population LESS_THAN', 'population DESCENDING', automatic],
    ['', 'name ASCENDING, __name__ ASCENDING', automatic],
    ['', 'name ASCENDING, __name__ DESCENDING', 'cities: name ↑, __name__ ↓'],
    ['state EQUAL, population LESS_THAN', '', 'cities: state =, population ↑'],
    ['state EQUAL', 'population DESCENDING, __name__ DESCENDING', 'cities: state =, population ↓'],
    ['state IN', 'population ASCENDING', 'cities: state =, population ↑'],
    ['regions ARRAY_CONTAINS_ANY', 'population ASCENDING', 'cities: regions ∋, population ↑'],
    ['', 'name ASCENDING, population DESCENDING', 'cities: name ↑, population ↓'],
    ['population GREATER_THAN, density LESS_THAN', '', 'cities: density ↑, population ↑'],
  ];
  for (const [filters, orders, expected] of examples)
    it(`for ${filters || 'all documents'}, ${orders || 'unordered'}: ${expected}`, () => {
      const query: RecordedQuery = {
        collection: 'cities',
        scope: 'COLLECTION',
        filters: pairs(filters).map(([field, op]) => ({ field, op })),
        orders: pairs(orders).map(([field, direction]) => ({
          field,
          direction: direction === 'DESCENDING' ? direction : 'ASCENDING',
        })),
      };
      const need = needOf(query);
      assert.equal(findIndex(need, none) ?? describeNeed(need), expected);
    });
});

/** Pattern of the names of fields with short texts, such as ids, names, hashes and fixed values. */
const SHORT =
  /(^|_)(id|uid|by|agent|agents?_id|name|type|status|state|kind|role|key|version|creator|author|workspace|session|revision|source|conclusion|repository|repo|owner|to|serves|category|method|language|colour|login)$|^(step|category_folded|email|name_folded|held_to|line|coordination_role|from)$/;

/** Returns `collection field` for all stored fields that are maps, lists or texts of any length. */
function storedFields(): readonly string[] {
  // Preferences are skipped. People write their few fields directly.
  const names = storedNames('firestore').filter((name) => name !== 'preferences');
  const found = names.flatMap((name) => {
    const documents = storedVersions('firestore', name).flatMap((version) => Object.values(version.documents));
    const fields = documents.flatMap((document) => Object.entries(Object(document)));
    const large = fields.filter(([field, value]) => isLarge(field, value));
    return large.map(([field]) => `${name.split('.').at(-1)} ${field}`);
  });
  return [...new Set(found)].sort();
}

function isLarge(field: string, value: unknown): boolean {
  if (typeof value === 'string') return !SHORT.test(field);
  return typeof value === 'object' && value !== null && !('$time' in value);
}

function pairs(text: string): [string, string][] {
  return [...text.matchAll(/(\w+) (\w+)/g)].map(([, name = '', value = '']) => [name, value]);
}

describe('the indexes of the Realtime Database', () => {
  it('are exactly the fields by which the stores order', () => {
    const ordered = globSync('**/*.ts', { cwd: source }).flatMap((file) =>
      [...readFileSync(new URL(file, source), 'utf8').matchAll(/\.orderByChild\('([^']+)'\)/g)].map(
        ([, child]) => child,
      ),
    );
    assert.deepEqual(ordered.sort(), permissions.flatMap(({ indexOn }) => indexOn ?? []).sort());
  });
});
