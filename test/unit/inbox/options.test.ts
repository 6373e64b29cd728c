/** An answer selects the option that a person cannot distinguish from it. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { optionMeant } from '../../../functions/src/kernel/words.ts';
import { answered, answerMeant } from '../../../functions/src/toolsets/inbox/rules/request.ts';
import { sampleRequest } from '../../support/builders.ts';

describe('option selected by an answer', () => {
  const cases = [
    ['São Paulo', ['São Paulo', 'Rio'], 'São Paulo'.normalize('NFD')],
    ['Rio', ['São Paulo', 'Rio'], ' rio\n'],
    ['Straße', ['Straße', 'Weg'], 'STRASSE'],
    ['ｙｅｓ', ['ｙｅｓ', 'no'], 'yes'],
    ['❤️', ['❤️', '💔'], '❤'],
    ['yes', ['yes', 'Yes'], 'yes'],
    ['Οδός', ['Οδός', 'x'], 'ΟΔΌΣ'],
  ] as const;

  for (const [meant, options, text] of cases)
    it(`is ${meant} if ${JSON.stringify(text)} is typed`, () =>
      assert.equal(optionMeant(options, text), meant));

  it('is undefined if two options match or if the answer is a different word', () => {
    assert.equal(optionMeant(['yes', 'Yes'], 'YES'), undefined);
    assert.equal(optionMeant(['はな', 'x'], 'ばな'), undefined);
    assert.equal(optionMeant(['Maria'], 'María'), undefined);
    assert.equal(optionMeant([], ''), undefined);
  });

  it('is the option itself for any list of options', () => {
    const texts = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1 });
    fc.assert(
      fc.property(texts, fc.nat(), (options, at) => {
        const option = options[at % options.length] ?? '';
        assert.equal(optionMeant(options, option), option);
      }),
    );
  });

  it("is stored with the option's spelling, for answers and defaults", () => {
    const request = {
      ...sampleRequest(),
      kind: 'choice' as const,
      options: ['São Paulo', 'Rio'],
      state: 'open' as const,
    };
    const { answer } = answered(request, { answer: 'rio' }, { uid: 'ada' }, request.created_at);
    assert.equal(answer, 'Rio');
    assert.equal(answerMeant(request, 'default', ' sÃo pAulo'), 'São Paulo');
    assert.equal(answerMeant({ kind: 'approval', options: [] }, 'answer', 'Approve'), 'approve');
    assert.equal(answerMeant({ kind: 'text', options: [] }, 'answer', ' As I said '), ' As I said ');
    assert.throws(() => answerMeant(request, 'answer', 'Lima'), { code: 'VALIDATION_ERROR' });
  });
});
