import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../../functions/src/kernel/errors.ts';
import type { JsonValue } from '../../../../functions/src/kernel/json.ts';
import { cursorText, parseCursor } from '../../../../functions/src/toolsets/firebase/firestore/read.ts';
import { forAll } from '../../../support/properties.ts';

/** Maximum length of the tool's cursor argument. */
const MAX_CHARACTERS = 4000;
const short = fc.jsonValue({ maxDepth: 2 }).filter((value) => JSON.stringify(value).length < 300);

describe('Firestore cursors', () => {
  it('keep their contents when they are encoded and decoded', () =>
    forAll(fc.string(), fc.string({ minLength: 1, maxLength: 100 }), short, (query, name, value) => {
      const json: JsonValue = JSON.parse(JSON.stringify(value));
      assert.deepEqual(parseCursor(cursorText({ query, name, value: json }), query), { query, name, value: json });
      assert.deepEqual(parseCursor(cursorText({ query, name }), query), { query, name });
    }));

  it('omit long values, so that they never exceed the length limit of the argument', () => {
    for (const value of ['x'.repeat(2000), '\u0000'.repeat(500), 'ä'.repeat(900), Array(500).fill(1)]) {
      const text = cursorText({ query: 'q'.repeat(20), name: 'n'.repeat(1500), value });
      assert.ok(text.length <= MAX_CHARACTERS, String(text.length));
      assert.equal(parseCursor(text, 'q'.repeat(20)).value, undefined);
    }
    const max = cursorText({ query: 'q'.repeat(20), name: 'n'.repeat(1500), value: 'x'.repeat(990) });
    assert.ok(max.length <= MAX_CHARACTERS, String(max.length));
  });

  it('are rejected if the server has not created them', () =>
    forAll(
      fc.oneof(
        fc.string(),
        fc.base64String(),
        fc.json().map((text) => btoa(escape(text))),
      ),
      (text) => {
        assert.throws(
          () => parseCursor(text, 'query'),
          (error) => error instanceof MusterError && error.details.field === 'query.cursor',
        );
      },
    ));
});
