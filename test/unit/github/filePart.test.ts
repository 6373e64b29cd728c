import assert from 'node:assert/strict';
import { fitsPage } from '../../../functions/src/kernel/json.ts';
import { base64Part, textPart } from '../../../functions/src/toolsets/github/rules/text.ts';
import { tokensOf } from '../../support/tokens.ts';

function partsOf(read: (offset: number) => { content: string; nextOffset?: number }): string[] {
  const parts: string[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const part = read(offset);
    assert.ok(fitsPage(part.content));
    assert.ok(tokensOf(part.content) <= 25_000, `${tokensOf(part.content)} tokens`);
    parts.push(part.content);
    offset = part.nextOffset;
  }
  return parts;
}

describe('part of a large file', () => {
  for (const [what, text] of [
    ['empty', ''],
    ['short', 'A line.\n'],
    ['long', 'A line with "quotes" and \\ and\ttabs.\n'.repeat(6000)],
    ['long, with characters of four bytes', '😀x'.repeat(40_000)],
    ['long, with a byte order mark', `\ufeff${'é, '.repeat(60_000)}`],
  ] as const)
    it(`fits a response, and all parts together equal the file: ${what}`, () => {
      const parts = partsOf((offset) => textPart(text, offset));
      assert.ok(parts.join('') === text);
      assert.equal(parts.length > 1, what.startsWith('long'));
      const base64 = Buffer.from(text).toString('base64');
      const bytes = partsOf((offset) => base64Part(base64, offset)).map((part) => Buffer.from(part, 'base64'));
      assert.ok(Buffer.concat(bytes).equals(Buffer.from(text)));
    });

  it('is empty after the end of the file, and can start at any offset', () => {
    assert.deepEqual(textPart('abc', 10), { content: '' });
    assert.deepEqual(base64Part('YWJj', 10), { content: '' });
    assert.deepEqual(textPart('aéb', 2), { content: '\ufffdb' });
  });
});
