/** The table of collections is complete, and docs/data-model.md prints it. `UPDATE=1` rewrites the page. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import * as realtimePaths from '../../functions/src/kernel/realtime/database.ts';
import { type Collection, collections } from './collections.ts';
import { fillIn, printTables } from './dataModel.ts';
import { declaredIndexes } from './declaredIndexes.ts';
import { emptied, matchedPaths } from './matchedPaths.ts';

const root = new URL('../../', import.meta.url);

const pathsOf = (database: Collection['database']): string[] =>
  collections.filter((row) => row.database === database).map((row) => row.path);

describe('the data model', () => {
  it('lists every collection that the server has a path for', () => {
    for (const name of Object.values(COLLECTIONS)) {
      assert.ok(
        pathsOf('firestore').some((path) => path.startsWith(`${name}/{`)),
        `Firestore's ${name}`,
      );
    }
    for (const name of Object.values(realtimePaths).filter((value) => typeof value === 'string')) {
      assert.ok(
        pathsOf('realtime').some((path) => path.startsWith(`${name}/{`)),
        `the Realtime Database's ${name}`,
      );
    }
  });

  it('lists exactly the paths that firestore.rules names', () => {
    const listed = collections
      .filter((row) => row.database === 'firestore')
      .map(({ path, also }) => (also === undefined ? emptied(path) : path.replace(/\{\w+\}$/, '{**}')))
      .map((path) => path.replace(/^elsewhere\//, ''));
    const named = matchedPaths(readFileSync(new URL('firestore.rules', root), 'utf8'));
    assert.deepEqual(named.toSorted(), listed.toSorted());
  });

  it('has indexes only for collections that exist', () => {
    const known = new Set(pathsOf('firestore').map((path) => path.split('/').at(-2)));
    const { indexes, fieldOverrides } = declaredIndexes();
    const unknown = [...indexes, ...fieldOverrides].filter(
      ({ collectionGroup }) => !known.has(collectionGroup),
    );
    assert.deepEqual(unknown, []);
  });

  it('is what docs/data-model.md prints', () => {
    const page = new URL('docs/data-model.md', root);
    const current = readFileSync(page, 'utf8');
    const filled = fillIn(current, printTables(declaredIndexes()));
    if (process.env.UPDATE === '1') writeFileSync(page, filled);
    else assert.equal(current, filled, 'docs/data-model.md is stale: run UPDATE=1 npm test -- rules');
  });
});
