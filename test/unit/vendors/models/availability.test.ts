import assert from 'node:assert/strict';
import { hostedAgents } from '../../../../functions/src/composition/externalServices.ts';
import type { ModelSettings } from '../../../../functions/src/vendors/vendorModel.ts';

const working: ModelSettings = {
  apiKey: 'key',
  baseUrl: 'https://models.example',
  model: 'model',
  price: { inputPerMillion: 0, outputPerMillion: 12.5 },
};

const broken: Readonly<Record<string, { readonly settings: Partial<ModelSettings>; readonly says: RegExp }>> = {
  'a base URL without TLS': { settings: { baseUrl: 'http://models.example' }, says: /_BASE_URL is not an https:/ },
  'an invalid base URL': { settings: { baseUrl: 'models' }, says: /_BASE_URL is not an https:/ },
  'a multi-line key': { settings: { apiKey: 'one\ntwo' }, says: /_API_KEY contains invalid characters/ },
  'no model': { settings: { model: '' }, says: /_MODEL is empty/ },
  'a price that is not a number': {
    settings: { price: { inputPerMillion: Number.NaN, outputPerMillion: 1 } },
    says: /_INPUT_PRICE must be a number/,
  },
  'a negative price': {
    settings: { price: { inputPerMillion: 1, outputPerMillion: -1 } },
    says: /_OUTPUT_PRICE must be a number/,
  },
};

describe('availability of a hosted agent', () => {
  it('is true if all settings are valid', () => {
    for (const agent of hostedAgents({ claude: working, gemini: working })) {
      assert.deepEqual(agent.availability(), { available: true });
      assert.deepEqual(agent.price, working.price);
      assert.equal(agent.model, 'model');
    }
  });

  it('does not require https for an address on this machine', () => {
    const local = { ...working, baseUrl: 'http://127.0.0.1:4010' };
    for (const agent of hostedAgents({ claude: local, gemini: local }))
      assert.deepEqual(agent.availability(), { available: true });
  });

  it('is false if the API key is missing, and the reason explains how to set the key', () => {
    const { apiKey: _, ...keyless } = working;
    const output = hostedAgents({ claude: keyless, gemini: keyless }).map((agent) => {
      const availability = agent.availability();
      return `${agent.name}: ${availability.available ? 'available' : availability.reason}`;
    });
    for (const [index, [name, key]] of Object.entries([
      ['claude', 'ANTHROPIC_API_KEY'],
      ['gemini', 'GEMINI_API_KEY'],
    ])) {
      const text = output[Number(index)] ?? '';
      assert.ok(text.startsWith(`${name}: ${name} has no API key. `), text);
      assert.match(text, new RegExp(`functions:secrets:set ${key}.*functions/\\.env\\.local`));
      assert.match(text, /`npm start -- --demo-models`/);
      assert.equal(
        text.match(/[A-Z]+_API_KEY/g)?.every((named) => named === key),
        true,
        'only its own key',
      );
    }
  });

  for (const [title, { settings, says }] of Object.entries(broken))
    it(`is false with ${title}, and the reason names the wrong setting`, () => {
      const wrong = { ...working, ...settings };
      for (const agent of hostedAgents({ claude: wrong, gemini: wrong })) {
        const availability = agent.availability();
        assert.ok(!availability.available);
        assert.match(availability.reason, says);
        assert.match(availability.reason, agent.name === 'claude' ? /^(ANTHROPIC|CLAUDE)_/ : /^GEMINI_/);
        assert.ok(!availability.reason.includes('two'), 'the key is not repeated');
      }
    });
});
