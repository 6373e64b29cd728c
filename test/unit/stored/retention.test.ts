/** docs/guides/operations.md#retention states how long each collection is kept, or why it is kept forever. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { permissions } from '../../../functions/src/access/rules/permissions.ts';
import { COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';

const guide = readFileSync(new URL('../../../docs/guides/operations.md', import.meta.url), 'utf8');

describe('retention section of the operations guide', () => {
  const [, table = ''] = guide.split(/<!-- \/?limits -->/);
  const rows = table
    .split('\n')
    .filter((line) => /^\| (realtime )?`/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it('lists every collection exactly once', () => {
    const named = rows.flatMap(([, where = '']) => where.replaceAll('`', '').split(', '));
    assert.equal(new Set(named).size, named.length, 'twice');
    const there = permissions.flatMap(({ database, path }) => {
      const names = path.split('/').filter((segment) => !segment.startsWith('{'));
      if (names.length === 0) return [];
      return database === 'firestore' ? [names.join('.')] : [`realtime ${names[0]}`];
    });
    assert.deepEqual([...new Set(named)].sort(), [...new Set(there)].sort());
    for (const name of Object.values(COLLECTIONS))
      assert.ok(
        named.some((one) => one === name || one.startsWith(`${name}.`)),
        name,
      );
  });

  it('states a retention period, or a reason for none, for each collection', () => {
    for (const [, where, kept = ''] of rows) assert.ok(kept.length > 3, where);
  });

  it('names exactly those retention parameters that exist', () => {
    const values = readFileSync(new URL('../../../functions/.env', import.meta.url), 'utf8');
    const parameters = [...guide.matchAll(/`(KEEP_[A-Z_]+)`/g)].map(([, name]) => name);
    for (const name of parameters) assert.ok(values.includes(`${name}=`), name);
    for (const [name] of values.matchAll(/^KEEP_\w+/gm)) assert.ok(parameters.includes(name), name);
  });
});
