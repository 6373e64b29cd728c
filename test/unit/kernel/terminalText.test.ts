import assert from 'node:assert/strict';
import fc from 'fast-check';
import { terminalText } from '../../../functions/src/kernel/text.ts';
import { logLineResponse, logLineText } from '../../../functions/src/toolsets/coding/tools/codingResponses.ts';
import { forAll } from '../../support/properties.ts';

const CASES = [
  ['a color', '\u001b[1;31mred\u001b[0m', 'red'],
  ['a cleared screen', '\u001b[2J\u001b[Hgone', 'gone'],
  ['a title', '\u001b]0;title\u0007text', 'text'],
  ['a link', '\u001b]8;;https://example.com\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['a device string', '\u001bP1$r0m\u001b\\text', 'text'],
  ['a charset', '\u001b(Btext', 'text'],
  ['a reset', '\u001bctext', 'text'],
  ['half a sequence', 'text\u001b', 'text\ufffd'],
  ['an open title', '\u001b]0;text', '0;text'],
  ['an 8-bit sequence', '\u009b31mtext', '\ufffd31mtext'],
  ['a bell and a backspace', 'a\u0007b\u0008', 'a\ufffdb\ufffd'],
  ['a carriage return over a line', 'safe\roverwritten\r\n', 'safe\noverwritten\n'],
  ['a reversed end', 'photo\u202egpj.exe', 'photo\ufffdgpj.exe'],
  ['tabs, lines and letters', 'Grüße\t世界\n😀', 'Grüße\t世界\n😀'],
] as const;

const line = (message: string) => ({
  line: 0,
  at: new Date(0),
  level: 'info' as const,
  type: 'output' as const,
  prefix: message,
  message,
});

describe('terminal control sequences', () => {
  for (const [what, written, shown] of CASES)
    it(`have no effect when a text is shown: ${what}`, () => {
      assert.equal(terminalText(written), shown);
      const { message, prefix } = logLineResponse(line(written));
      assert.deepEqual([message, prefix], [shown, shown]);
      assert.ok(logLineText(line(written)).endsWith(shown.replaceAll('\n', '\n    ')));
    });

  it('are removed from any text quickly', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('\u001b', '\u001b[', '\u001b]', '\u0007', '\u009b', ';', 'm'),
    );
    forAll(fc.array(piece, { maxLength: 20 }), (pieces) => {
      assert.doesNotMatch(terminalText(pieces.join('')).replace(/[\t\n]/g, ''), /\p{Cc}/u);
    });
    for (const part of ['\u001b]', '\u001b[', '\u001b[1', '\u001bP', '\u001b ', '\u001b']) {
      const before = process.cpuUsage();
      terminalText(part.repeat(50_000));
      const { user } = process.cpuUsage(before);
      assert.ok(user < 500_000, `${JSON.stringify(part)}: ${user} µs`);
    }
  });
});
