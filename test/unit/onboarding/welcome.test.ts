/** Welcome texts for a new agent in every supported language. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AGENT_TYPES } from '../../../functions/src/agents/rules/agent.ts';
import { HIDDEN_CHARACTERS, oneLine } from '../../../functions/src/kernel/hiddenCharacters.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { registrationName } from '../../../functions/src/toolsets/onboarding/rules/onboarding.ts';
import {
  chooseLanguage,
  LANGUAGES,
  type NewAgent,
  TEXTS,
  welcome,
} from '../../../functions/src/toolsets/onboarding/rules/welcome.ts';
import { forAll } from '../../support/properties.ts';

const ada = (changes: Partial<NewAgent> = {}): NewAgent => ({
  name: 'Ada',
  role: 'developer',
  specializations: [],
  language: 'en',
  registration: { name: 'Ada', agentId: 'Ada-12345678' },
  workspace: 'alpha',
  canLead: false,
  ...changes,
});

describe('welcome texts', () => {
  const textsOf = (language: (typeof LANGUAGES)[number]): string[] => {
    const { message, systemOverview, roles, specializations, steps, elsewhere, askWhoInvitedYou } = TEXTS[language];
    return [
      message,
      systemOverview,
      ...AGENT_TYPES.map((role) => roles[role]),
      specializations,
      ...Object.values(steps).flatMap(({ title, description }) => [title, description]),
      elsewhere,
      askWhoInvitedYou,
    ];
  };

  for (const language of LANGUAGES)
    it(`are complete and differ from the English ones: ${language}`, () => {
      const own = textsOf(language);
      assert.ok(own.every((text) => text.trim() !== ''));
      assert.equal(new Set(own).size, own.length);
      const places = own.flatMap((text) => text.match(/\{\w+\}/g) ?? []);
      assert.deepEqual(places, ['{name}', '{list}', '{url}']);
      if (language === 'en') return;
      const english = new Set(textsOf('en'));
      const untranslated = own.filter((text) => english.has(text));
      assert.deepEqual(untranslated, []);
    });

  it('are chosen by the primary language subtag, in upper or lower case', () => {
    for (const [tag, language] of [
      ['pt-BR', 'pt'],
      ['ZH', 'zh'],
      ['zh-Hans-CN', 'zh'],
      ['de_AT', 'de'],
      [' fr ', 'fr'],
    ] as const)
      assert.deepEqual(chooseLanguage(tag), { language, isFallback: false }, tag);
  });

  it('are English with a notice if the language is not supported', () => {
    for (const tag of ['', 'tlh', 'eng', 'english', '__proto__', 'constructor', 'x'.repeat(1e6), '\0']) {
      assert.deepEqual(chooseLanguage(tag), { language: 'en', isFallback: true });
      assert.match(welcome(ada({ language: tag })).notice ?? '', /in English.*en, es, fr, de, pt, zh, ja/);
    }
    assert.equal(welcome(ada()).notice, undefined);
  });
});

describe('welcome message', () => {
  it('mentions the name, the role and the specializations of the agent', () => {
    const { message, roleDescription } = welcome(ada({ role: 'analyst', specializations: ['sql', 'charts', 'maps'] }));
    assert.match(message, /Ada/);
    assert.match(roleDescription, /As an analyst.*sql, charts, and maps/);
    assert.doesNotMatch(welcome(ada()).roleDescription, /specializations/);
  });

  it('suggests registering the agent with its stated role and skills', () => {
    const [register, checklist] = welcome(ada({ specializations: ['sql'] })).steps;
    assert.deepEqual(register?.call.args, {
      agentInfo: { name: 'Ada', type: 'developer', version: '1.0.0' },
      capabilities: [{ name: 'sql', category: 'developer' }],
      workspace: 'alpha',
    });
    assert.deepEqual(checklist?.call, { tool: 'onboarding.getChecklist', args: { agentId: 'Ada-12345678' } });
  });

  it('suggests the role leader to a coordinator only if the caller may grant that role', () => {
    for (const canLead of [true, false]) {
      const { steps } = welcome(ada({ role: 'coordinator', canLead }));
      const join = steps.find(({ call }) => call.tool === 'coordination.register_agent');
      assert.equal(join?.call.args['role'], canLead ? 'leader' : 'worker');
      assert.equal(steps[0]?.call.args['role'], canLead ? 'leader' : undefined);
    }
  });
});

describe('agent name within a sentence', () => {
  it('contains no invisible characters', () => {
    assert.equal(oneLine(' A\u0000d\u202ea\n\t\u200bB\ud800 '), 'A d a B');
    assert.equal(oneLine('\u0007\u200b\ufeff'), '');
    forAll(fc.string({ unit: 'binary' }), (text) => {
      const plain = oneLine(text);
      assert.doesNotMatch(plain, /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|^\s|\s$/u);
      assert.equal(plain.replace(HIDDEN_CHARACTERS, ''), plain);
      assert.equal(oneLine(plain), plain);
    });
  });
});

describe('suggested name for a registration', () => {
  it('is the given name if registration accepts that name', () => {
    for (const name of ['Ada', 'code_reviewer-2']) assert.equal(registrationName(name, systemHashing), name);
  });

  it('is always valid, and differs for different given names', () => {
    const names = fc.oneof(
      fc.constantFrom('智能体', '代理', 'é', 'e', 'a b', 'a-b', 'Zoë Müller', '-', 'x'.repeat(100)),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
    );
    forAll(names, names, (one, other) => {
      const [left, right] = [registrationName(one, systemHashing), registrationName(other, systemHashing)];
      assert.match(left, /^[a-zA-Z0-9-_]{3,50}$/);
      assert.equal(left === right, one === other, `${left} ${right}`);
    });
  });
});
