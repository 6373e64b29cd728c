import assert from 'node:assert/strict';
import fc from 'fast-check';
import { logTail } from '../../../functions/src/toolsets/github/rules/reading.ts';
import {
  isBase64,
  plainLine,
  plainText,
  utf8Text,
  webAddress,
} from '../../../functions/src/toolsets/github/rules/text.ts';
import { forAll, inRuns } from '../../support/properties.ts';

const ROOM = 1_000_000;
const anything = fc.string({ unit: 'binary', maxLength: 300 });

describe('text from GitHub', () => {
  it('contains all characters except invisible ones', () => {
    inRuns(1000).forAll(anything, fc.integer({ min: 1, max: 100 }), (text, limit) => {
      const plain = plainText(text, limit);
      assert.ok(plain.length <= limit);
      assert.doesNotThrow(() => encodeURIComponent(plain), 'a lone surrogate');
      assert.doesNotMatch(plain, /[\u202a-\u202e\u2066-\u2069\u200b\ufeff]/);
      assert.doesNotMatch(plain.replace(/[\t\n]/g, ''), /\p{Cc}/u);
      assert.doesNotMatch(plainLine(text, limit), /[\t\n]/);
    });
    assert.equal(plainText('Grüße, 世界 😀\n\tx', 100), 'Grüße, 世界 😀\n\tx');
    assert.equal(plainText('abcdef', 4), 'abc…');
  });

  it('keeps URLs with http or https, and no other URLs', () => {
    for (const bad of ['javascript:alert(1)', 'https://user:pass@host/', 'file:///etc/passwd', 'x', ''])
      assert.equal(webAddress(bad), undefined, bad);
    assert.equal(webAddress('https://github.com/a/b/pull/1'), 'https://github.com/a/b/pull/1');
  });

  it('is decoded if it is UTF-8 without NUL, and keeps its contents in a round trip', () => {
    forAll(fc.string({ unit: 'grapheme' }), (text) => {
      const base64 = Buffer.from(text).toString('base64');
      assert.ok(isBase64(base64));
      assert.equal(utf8Text(base64), text.includes('\0') ? undefined : text);
    });
    assert.equal(utf8Text(Buffer.from([0xff, 0xfe]).toString('base64')), undefined);
    assert.equal(utf8Text(Buffer.from('\ufeffBOM').toString('base64')), '\ufeffBOM');
  });

  it('consists of the last lines of a log, without timestamps and color codes', () => {
    const log = '2025-01-01T00:00:00.1Z one\r\n\u001b[1;31mtwo\u001b[0m\nthree\u001b]0;title\u0007\n\n';
    assert.deepEqual(logTail(log, 2, ROOM), { text: 'two\nthree', lines: 2 });
    assert.deepEqual(logTail(log, 10, ROOM), { text: 'one\ntwo\nthree', lines: 3 });
    forAll(anything, fc.integer({ min: 1, max: 5 }), (text, lines) => {
      const tail = logTail(text, lines, ROOM);
      assert.equal(tail.text.split('\n').length, tail.lines);
      assert.ok(tail.lines <= lines);
    });
  });
});
