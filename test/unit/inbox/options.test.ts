/** A typed answer selects the option that looks the same to a person. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { matchOption } from '../../../functions/src/kernel/textSearch.ts';
import { answeredRequest, matchAnswer } from '../../../functions/src/toolsets/inbox/rules/request.ts';
import { sampleRequest } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';

describe('option that a typed answer selects', () => {
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
    it(`is ${meant} if a person types ${JSON.stringify(text)}`, () => assert.equal(matchOption(options, text), meant));

  it('is undefined if two options match, or if the answer is a different word', () => {
    assert.equal(matchOption(['yes', 'Yes'], 'YES'), undefined);
    assert.equal(matchOption(['はな', 'x'], 'ばな'), undefined);
    assert.equal(matchOption(['Maria'], 'María'), undefined);
    assert.equal(matchOption([], ''), undefined);
  });

  it('is the option itself if a person types that option, for any list of options', () => {
    const texts = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1 });
    forAll(texts, fc.nat(), (options, at) => {
      const option = options[at % options.length] ?? '';
      assert.equal(matchOption(options, option), option);
    });
  });

  it('is stored in the spelling of the option, for answers and for defaults', () => {
    const request = {
      ...sampleRequest(),
      kind: 'choice' as const,
      options: ['São Paulo', 'Rio'],
      state: 'open' as const,
    };
    const { answer } = answeredRequest(request, { answer: 'rio' }, { uid: 'ada' }, request.created_at);
    assert.equal(answer, 'Rio');
    assert.equal(matchAnswer(request, 'default', ' sÃo pAulo'), 'São Paulo');
    assert.equal(matchAnswer({ kind: 'approval', options: [] }, 'answer', 'Approve'), 'approve');
    assert.equal(matchAnswer({ kind: 'text', options: [] }, 'answer', ' As I said '), ' As I said ');
    assert.throws(() => matchAnswer(request, 'answer', 'Lima'), { code: 'VALIDATION_ERROR' });
  });
});
