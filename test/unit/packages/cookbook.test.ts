/** The workflows in examples/, and the page that describes these workflows. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';

const root = new URL('../../..', import.meta.url).pathname;
const files = globSync('examples/workflows/*.json', { cwd: root });
const page = readFileSync(`${root}/docs/guides/cookbook.md`, 'utf8');

describe('example workflows', () => {
  it('are all described in the page about them', () => {
    const reported = [...page.matchAll(/examples\/workflows\/[\w-]+\.json/g)].map(([file]) => file);
    assert.deepEqual([...reported].sort(), [...files].sort());
    assert.ok(files.length >= 6);
  });

  for (const file of files)
    it(`include a valid workflow that has the name of its file: ${file}`, () => {
      const { name, description } = readWorkflow(readFileSync(`${root}/${file}`, 'utf8'), 'workflow');
      assert.equal(name, basename(file, '.json'));
      assert.ok(description);
    });
});
