import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as functions from '../../../functions/src/index.ts';

const guide = readFileSync(new URL('../../../docs/guides/operations.md', import.meta.url), 'utf8');

describe('guide to outages', () => {
  it('states for each deployed function which mechanism repeats its work after an outage', () => {
    const [, section = ''] = /\n## After an outage\n([\s\S]*?)\n## /.exec(guide) ?? [];
    const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)];
    assert.deepEqual(rows.map(([, name]) => name).sort(), Object.keys(functions).sort());
  });
});
