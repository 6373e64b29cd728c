/** The guide lists for each function what repeats its work after an outage, so that no new function is overlooked. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as functions from '../../../functions/src/index.ts';

const guide = readFileSync(new URL('../../../docs/guides/operating.md', import.meta.url), 'utf8');

describe('the guide about outages', () => {
  it('states for each function of the deployment what repeats its work', () => {
    const [, section = ''] = /\n## After an outage\n([\s\S]*?)\n## /.exec(guide) ?? [];
    const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)];
    assert.deepEqual(rows.map(([, name]) => name).sort(), Object.keys(functions).sort());
  });
});
