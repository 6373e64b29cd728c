import assert from 'node:assert/strict';
import fc from 'fast-check';
import { meaningOf, seemsToRepeat, wordsAtEnd } from '../../../functions/src/toolsets/todo/rules/words.ts';
import { forAll } from '../../support/properties.ts';

/** Tuesday, at 11:00 in Berlin. */
const NOW = { instant: new Date('2026-11-24T10:00:00Z'), timezone: 60 };

const every = (frequency: string, rest: object = {}) => ({ repetition: { frequency, ...rest } });

const WORKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR'];

describe('a date or repetition in words', () => {
  for (const [words, meaning] of [
    ['tomorrow', { date: '2026-11-25' }],
    ['tomorrow 9:30', { date: '2026-11-25', time: '09:30' }],
    ['today at 17:05', { date: '2026-11-24', time: '17:05' }],
    ['fri', { date: '2026-11-27' }],
    ['on Tuesday', { date: '2026-12-01' }],
    ['by 5 December 8am', { date: '2026-12-05', time: '08:00' }],
    ['in 3 days', { date: '2026-11-27' }],
    ['in 90 minutes', { date: '2026-11-24', time: '12:30' }],
    ['9:30', { date: '2026-11-25', time: '09:30' }],
    ['daily', every('DAILY')],
    ['every monday 9:00', { ...every('WEEKLY', { days: ['MO'] }), time: '09:00' }],
    ['every weekday at 9', { ...every('WEEKLY', { days: WORKDAYS }), time: '09:00' }],
    ['every mon, wed and fri', every('WEEKLY', { days: ['MO', 'WE', 'FR'] })],
    ['every second week', every('WEEKLY', { interval: 2 })],
    ['every other Friday', every('WEEKLY', { interval: 2, days: ['FR'] })],
    ['every 3 months on the 1st monday', every('MONTHLY', { interval: 3, days: ['1MO'] })],
    ['every first friday of the month', every('MONTHLY', { days: ['1FR'] })],
    ['every last day of the month', every('MONTHLY', { days: ['-1'] })],
    ['every 15th', every('MONTHLY', { days: ['15'] })],
  ] as const)
    it(`means its date or rule: ${words}`, () => {
      assert.deepEqual(meaningOf(words, NOW), meaning);
      const { title, meaning: same } = wordsAtEnd(`Water the plants ${words}`, NOW) ?? {};
      assert.deepEqual([title, same], ['Water the plants', meaning]);
    });

  for (const text of [
    'Read "Tomorrow never dies"',
    'Call the bank today 9:00',
    'Call the bank tomorrow 25:00',
    'Call the bank in 2 hours 9:30',
    'Call the bank yesterday',
    'Call the bank last friday',
    'Call the bank 3/4',
    'Meet at 5',
    'Talk to April',
    'Review every pull request',
    'Water every monday every tuesday',
    'Pay every year',
    'tomorrow',
  ])
    it(`is not guessed: ${text}`, () => assert.equal(wordsAtEnd(text, NOW), undefined));

  it('is reported if a repetition is not understood', () => {
    const isReported = ['Water every banana', 'Pay monthly fee', 'Call tomorrow'].map(seemsToRepeat);
    assert.deepEqual(isReported, [true, true, false]);
  });

  it('leaves the rest of any title as it is', () => {
    const words = fc.constantFrom('tomorrow', 'on sunday 8:15', 'in 2 weeks', 'every second monday 9:00');
    forAll(fc.string(), words, (text, said) => {
      const found = wordsAtEnd(`${text}x ${said}`, NOW);
      if (found) assert.equal(`${found.title} ${found.words}`, `${text}x ${said}`.trim());
      assert.ok(found === undefined || found.title !== '');
    });
  });
});
