import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jsonFault } from '../../../functions/src/mcp/http/jsonFault.ts';

describe('where a text stops being JSON', () => {
  for (const [text, fault] of [
    ['', 'line 1, column 1: expected a value, found the end of the body'],
    ['{', 'line 1, column 2: expected a name in double quotes or "}", found the end of the body'],
    ['{"a": 1,}', 'line 1, column 9: expected a name in double quotes, found "}"'],
    ["{'a': 1}", 'line 1, column 2: expected a name in double quotes or "}", found "\'"'],
    ['{"a" 1}', 'line 1, column 6: expected ":", found "1"'],
    ['{"a": 1\n "b": 2}', 'line 2, column 2: expected "," or "}", found "\\""'],
    ['[1, 2,]', 'line 1, column 7: expected a value, found "]"'],
    ['[1 2]', 'line 1, column 4: expected "," or "]", found "2"'],
    ['[}', 'line 1, column 2: expected a value or "]", found "}"'],
    ['{} {}', 'line 1, column 4: expected nothing more, found "{"'],
    ['{"a": True}', 'line 1, column 7: expected a value, found "T"'],
    ['[01]', 'line 1, column 2: expected a value or "]", found "0"'],
    ['[1.]', 'line 1, column 2: expected a value or "]", found "1"'],
    ['[NaN]', 'line 1, column 2: expected a value or "]", found "N"'],
    ['["a\nb"]', 'line 1, column 4: expected its escape, such as \\n, found U+000A'],
    ['["a\\x"]', 'line 1, column 4: expected an escape such as \\n or \\\\, found "\\\\"'],
    ['["abc', 'line 1, column 6: expected the end of the string that begins at 2, found the end of the body'],
    ['\u0000', 'line 1, column 1: expected a value, found U+0000'],
  ] as const) {
    it(`is found in ${JSON.stringify(text)}`, () => {
      assert.equal(jsonFault(text), fault);
    });
  }

  it('is nowhere in JSON', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
        assert.equal(jsonFault(text), undefined);
        assert.equal(jsonFault(` ${JSON.stringify(JSON.parse(text), null, 2)}\r\n`), undefined);
      }),
    );
  });

  it('is somewhere in all else, wherever JSON was broken', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', '"', '{', ']', ',', ':', '\\', '0', '-', 'e'),
        (text, at, put) => {
          const index = at % (text.length + 1);
          const broken = text.slice(0, index) + put + text.slice(index + 1);
          const isJson = (() => {
            try {
              JSON.parse(broken);
              return true;
            } catch {
              return false;
            }
          })();
          assert.equal(jsonFault(broken) === undefined, isJson, broken);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('is not looked for to the end of a text that is very long', () => {
    for (const text of [
      '['.repeat(4_000_000),
      `"${'\\n'.repeat(2_000_000)}`,
      `[${'1,'.repeat(2_000_000)}`,
      `[${'"",'.repeat(1_300_000)}`,
    ]) {
      assert.equal(jsonFault(text), undefined);
    }
    assert.match(jsonFault(`[${' '.repeat(200_000)},${' '.repeat(4_000_000)}`) ?? '', /column 200002/);
  });
});
