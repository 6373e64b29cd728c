import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { NETWORK_TOOLSETS } from '../../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { root } from '../../../scripts/project.mjs';

const names = toolsets.map(({ name }) => name);

/** Matches the text after the address `/mcp/network`, up to the end of its sentence or table cell. */
const SENTENCE = /`\/mcp\/network`([^|.\n]*(?:\|[^|\n]*)?)/g;

describe('the address /mcp/network', () => {
  const files = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].filter(
    (file) => !file.startsWith('docs/decisions/'),
  );
  const sentences = files.flatMap((file) =>
    [...readFileSync(`${root}/${file}`, 'utf8').matchAll(SENTENCE)].map(([, text = '']) => ({ file, text })),
  );

  it('is described in the README and in the guides', () => {
    for (const file of ['README.md', 'docs/guides/clients.md', 'docs/semantics.md'])
      assert.ok(
        sentences.some((one) => one.file === file),
        file,
      );
  });

  for (const { file, text } of sentences)
    it(`serves exactly the toolsets that ${file} lists`, () => {
      const reported = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
      assert.deepEqual(reported.sort(), [...NETWORK_TOOLSETS].sort(), text);
    });
});
