/**
 * What a client sees of each tool, so that no change to it goes unnoticed.
 * `UPDATE_SNAPSHOTS=1 npm test -- contract` writes them anew.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { canonicalJson } from '../../functions/src/kernel/json.ts';
import { wholeDescription } from '../../functions/src/mcp/toolList.ts';
import { entries } from './catalogue.ts';

const folder = new URL('snapshots/', import.meta.url);
const updating = process.env['UPDATE_SNAPSHOTS'] === '1';

describe('the snapshots', () => {
  before(() => {
    mkdirSync(folder, { recursive: true });
  });

  for (const { name, tool, input, output } of entries) {
    it(`shows ${name} as it is`, () => {
      const { title, role, audience, annotations } = tool;
      const description = wholeDescription(tool);
      const shown = { name, title, description, role, audience, annotations, input, output };
      const json = `${JSON.stringify(JSON.parse(canonicalJson(shown)), null, 2)}\n`;
      const file = new URL(`${name}.json`, folder);
      if (updating) writeFileSync(file, json);
      assert.ok(existsSync(file), 'there is no snapshot: set UPDATE_SNAPSHOTS=1');
      assert.equal(readFileSync(file, 'utf8'), json, 'the snapshot is stale: set UPDATE_SNAPSHOTS=1');
    });
  }

  it('are of tools that exist', () => {
    const known = entries.map(({ name }) => `${name}.json`);
    const orphans = readdirSync(folder).filter((file) => !known.includes(file));
    if (updating) for (const file of orphans) rmSync(new URL(file, folder));
    assert.deepEqual(updating ? [] : orphans, []);
  });
});
