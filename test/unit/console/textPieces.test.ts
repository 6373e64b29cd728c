import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hostOf, piecesOf } from '../../../console/ui/textPieces.ts';
import { forAll } from '../../support/properties.ts';

describe('text of an agent or person in the console', () => {
  it('shows invisible characters, and makes links only of https addresses', () => {
    assert.deepEqual(piecesOf('See https://example.org/a?b=1 \u202Enow'), [
      { kind: 'text', text: 'See ' },
      { kind: 'link', text: 'https://example.org/a?b=1' },
      { kind: 'text', text: ' ' },
      { kind: 'unseen', text: '\u202E' },
      { kind: 'text', text: 'now' },
    ]);
    for (const address of ['http://example.org', 'javascript:alert(1)', 'https://ada@example.org', 'https://'])
      assert.deepEqual(
        piecesOf(address).filter(({ kind }) => kind === 'link'),
        [],
        address,
      );
  });

  it('loses no character, and leaves no character invisible', () => {
    const unseen = fc.constantFrom(
      '\u202E',
      '\u200B',
      '\u0000',
      '\u001b[31m',
      '\u2066',
      '\uFEFF',
      'https://a.b/\u202E',
    );
    forAll(fc.array(fc.oneof(fc.string({ unit: 'binary' }), unseen, fc.webUrl())), (parts) => {
      const text = parts.join('');
      const pieces = piecesOf(text);
      assert.equal(pieces.map((piece) => piece.text).join(''), text);
      for (const piece of pieces) {
        if (piece.kind === 'text')
          // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left.
          assert.doesNotMatch(piece.text, /[\u202a-\u202e\u2066-\u2069\u200b\u0000]/);
        if (piece.kind === 'link') assert.ok(hostOf(piece.text));
      }
    });
  });

  it('shows the host of a link, but no host for an address that contains a password', () => {
    assert.equal(hostOf('https://xn--e1afmkfd.example/x'), 'xn--e1afmkfd.example');
    assert.equal(hostOf('https://user:pass@example.org/'), undefined);
  });
});
