/** The table of collections is complete, and docs/data-model.md prints it. `UPDATE=1` rewrites the page. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Permission, permissionFor, permissions } from '../../functions/src/access/rules/permissions.ts';
import * as paths from '../../functions/src/kernel/firestore/paths.ts';
import * as realtimePaths from '../../functions/src/kernel/realtime/database.ts';
import { printRealtimeRules } from '../../scripts/rules/realtime.ts';
import { fillIn, printTables } from './dataModel.ts';
import { declaredIndexes } from './declaredIndexes.ts';
import { emptied, matchedPaths } from './matchedPaths.ts';

const STALE = 'This is stale: run UPDATE=1 npm test -- rules';

const root = new URL('../../', import.meta.url);

const pathsOf = (database: Permission['database']): string[] =>
  permissions.filter((row) => row.database === database).map((row) => row.path);

describe('the data model', () => {
  it('lists every collection that the server has a path for', () => {
    for (const name of Object.values(paths.COLLECTIONS)) {
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

  it('lists every path that the server makes', () => {
    for (const [database, made] of [
      ['firestore', madePaths(paths)],
      ['realtime', madePaths(realtimePaths)],
    ] as const) {
      assert.ok(made.length > 10);
      const unlisted = made.filter((path) => !isListed(database, path));
      assert.deepEqual(unlisted, [], database);
    }
  });

  it('lists exactly the paths that firestore.rules names', () => {
    const named = matchedPaths(readFileSync(new URL('firestore.rules', root), 'utf8'));
    assert.deepEqual(named.toSorted(), pathsOf('firestore').map(emptied).toSorted());
  });

  it('is what database.rules.json says, in a language without functions', () => {
    const file = new URL('database.rules.json', root);
    const printed = printRealtimeRules();
    if (process.env.UPDATE === '1') writeFileSync(file, printed);
    else assert.equal(readFileSync(file, 'utf8'), printed, STALE);
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
    else assert.equal(current, filled, STALE);
  });
});

/** What each function that makes a path makes of variables. */
function madePaths(module: object): string[] {
  const makers = Object.entries(module).filter(([name]) => /Path$/.test(name));
  return makers.flatMap(([, make]) =>
    typeof make === 'function' && !isOfTime(make) ? [String(make('{a}', '{b}', '{c}'))] : [],
  );
}

/** This one takes a date. */
function isOfTime(make: unknown): boolean {
  return make === realtimePaths.minuteMetricsPath;
}

/** As a document, or as the collection or the list above some. */
function isListed(database: Permission['database'], path: string): boolean {
  const { permission, isList } = permissionFor({ database, path });
  if (permission.path === '{path=**}') return false;
  const template = isList ? permission.path.replace(/\/[^/]+$/, '') : permission.path;
  return path.split('/').length === template.split('/').length;
}
