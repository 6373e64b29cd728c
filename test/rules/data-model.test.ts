/** Asserts that the permission table is complete and equal to docs/data-model.md. `UPDATE=1` rewrites the page. */
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

describe('the permission table', () => {
  it("lists every collection that the server's path modules name", () => {
    for (const name of Object.values(paths.COLLECTIONS))
      assert.ok(
        pathsOf('firestore').some((path) => path.startsWith(`${name}/{`)),
        `Firestore's ${name}`,
      );
    for (const name of Object.values(realtimePaths).filter((value) => typeof value === 'string'))
      assert.ok(
        pathsOf('realtime').some((path) => path.startsWith(`${name}/{`)),
        `the Realtime Database's ${name}`,
      );
  });

  it('lists every path that the server builds', () => {
    for (const [database, made] of [
      ['firestore', madePaths(paths)],
      ['realtime', madePaths(realtimePaths)],
    ] as const) {
      assert.ok(made.length > 10);
      const unlisted = made.filter((path) => !isListed(database, path));
      assert.deepEqual(unlisted, [], database);
    }
  });

  it('lists exactly the paths that firestore.rules matches', () => {
    const named = matchedPaths(readFileSync(new URL('firestore.rules', root), 'utf8'));
    assert.deepEqual(named.toSorted(), pathsOf('firestore').map(emptied).toSorted());
  });

  it('matches the generated file database.rules.json', () => {
    const file = new URL('database.rules.json', root);
    const printed = printRealtimeRules();
    if (process.env.UPDATE === '1') writeFileSync(file, printed);
    else assert.equal(readFileSync(file, 'utf8'), printed, STALE);
  });

  it('lists the collection of every index in firestore.indexes.json', () => {
    const known = new Set(pathsOf('firestore').map((path) => path.split('/').at(-2)));
    const { indexes, fieldOverrides } = declaredIndexes();
    const unknown = [...indexes, ...fieldOverrides].filter(({ collectionGroup }) => !known.has(collectionGroup));
    assert.deepEqual(unknown, []);
  });

  it('matches the tables in docs/data-model.md', () => {
    const page = new URL('docs/data-model.md', root);
    const current = readFileSync(page, 'utf8');
    const filled = fillIn(current, printTables(declaredIndexes()));
    if (process.env.UPDATE === '1') writeFileSync(page, filled);
    else assert.equal(current, filled, STALE);
  });
});

/** Calls each path function of a module with placeholders such as `{a}`, and returns the paths. */
function madePaths(module: object): string[] {
  const makers = Object.entries(module).filter(([name]) => /Path$/.test(name));
  return makers.flatMap(([, make]) =>
    typeof make === 'function' && !isOfTime(make) ? [String(make('{a}', '{b}', '{c}'))] : [],
  );
}

/** Whether this is a path function with a date as its argument. */
function isOfTime(make: unknown): boolean {
  return make === realtimePaths.minuteMetricsPath || make === realtimePaths.dayMetricsPath;
}

/** Returns whether the table lists the path itself, or the documents or nodes directly below the path. */
function isListed(database: Permission['database'], path: string): boolean {
  const { permission, isList } = permissionFor({ database, path });
  if (permission.path === '{path=**}') return false;
  const template = isList ? permission.path.replace(/\/[^/]+$/, '') : permission.path;
  return path.split('/').length === template.split('/').length;
}
