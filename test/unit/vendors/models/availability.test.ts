/** Availability of the hosted agents in deployments with missing and wrong settings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import models from '../../../../functions/models.json' with { type: 'json' };
import { hostedAgents, type ModelEnvironment } from '../../../../functions/src/composition/hostedAgents.ts';
import { agentsAt, environmentAt } from '../../../support/models/agents.ts';

const AT = 'https://models.example';

const withProvider = (provider: Readonly<Record<string, unknown>>, model = 'model') => ({
  file: { providers: { other: provider }, agents: { other: { provider: 'other', model } } },
});

function reasonsIn(changes: Partial<ModelEnvironment>, url = AT): readonly string[] {
  return agentsAt(url, changes).map((agent) => {
    const now = agent.availability();
    return now.available ? 'available' : now.reason;
  });
}

describe('availability of a hosted agent', () => {
  it('is true if all settings are valid', () => {
    assert.deepEqual(reasonsIn({}), ['available', 'available']);
    assert.deepEqual(reasonsIn({}, 'http://127.0.0.1:4010'), ['available', 'available'], 'http on this machine');
    const keyless = withProvider({ api: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', key: false });
    assert.deepEqual(reasonsIn({ ...keyless, secrets: {} }), ['available']);
    const vertex = withProvider({ api: 'vertex' });
    assert.deepEqual(reasonsIn({ ...vertex, secrets: {} }), ['available']);
  });

  it('is false if the API key is missing, and the reason explains how to set the key', () => {
    for (const [index, key] of ['ANTHROPIC_API_KEY', 'GEMINI_API_KEY'].entries()) {
      const text = reasonsIn({ secrets: {} })[index] ?? '';
      assert.match(text, new RegExp(`has no API key\\. .*functions:secrets:set ${key}.*functions/\\.env\\.local`));
      assert.match(text, /`npm start -- --demo-models`/);
      assert.ok(
        text.match(/[A-Z]+_API_KEY/g)?.every((named) => named === key),
        'only its own key',
      );
    }
    const [other = ''] = reasonsIn({ ...withProvider({ api: 'openai' }), secrets: {} });
    assert.match(
      other,
      /set MODEL_KEYS to a JSON object with "other" with `npx firebase functions:secrets:set MODEL_KEYS`/,
    );
  });

  it('uses the key with the name of the provider', () => {
    const openai = withProvider({ api: 'openai' });
    assert.deepEqual(reasonsIn({ ...openai, secrets: { MODEL_KEYS: '{"other": "sk-1"}' } }), ['available']);
    assert.deepEqual(reasonsIn({ secrets: { MODEL_KEYS: '{"anthropic": "a", "google": "g"}' } }), [
      'available',
      'available',
    ]);
  });

  const wrong: Readonly<Record<string, readonly [Partial<ModelEnvironment>, RegExp, url?: string]>> = {
    'a base URL without TLS': [
      {},
      /^The address of the provider "anthropic" is not an https:/,
      'http://models.example',
    ],
    'a multi-line key': [
      { secrets: { ANTHROPIC_API_KEY: 'one\ntwo' } },
      /^ANTHROPIC_API_KEY contains invalid characters/,
    ],
    'keys that are not JSON': [
      { ...withProvider({ api: 'openai' }), secrets: { MODEL_KEYS: 'sk-two' } },
      /^MODEL_KEYS must be a JSON object/,
    ],
    'a former price that is not a number': [
      { former: { claude: { model: '', inputPrice: 'two', outputPrice: '' } } },
      /^CLAUDE_INPUT_PRICE must be a number/,
    ],
    'a negative former price': [
      { former: { claude: { model: '', inputPrice: '', outputPrice: '-1' } } },
      /^CLAUDE_OUTPUT_PRICE must be a number/,
    ],
    'no login at Google': [
      { ...withProvider({ api: 'vertex' }), hasGoogleLogin: false },
      /gcloud auth application-default/,
    ],
  };
  for (const [title, [changes, says, url]] of Object.entries(wrong))
    it(`is false with ${title}, and the reason names the wrong setting`, () => {
      const [reason = ''] = reasonsIn(changes, url);
      assert.match(reason, says);
      assert.ok(!reason.includes('two'), 'the key is not repeated');
    });

  it('lets parameters of earlier versions override the file, and logs that once for each agent', () => {
    const logged: unknown[] = [];
    const log = {
      info: () => {},
      error: () => {},
      warn: (event: string, about?: object) => logged.push([event, about]),
    };
    const former = { claude: { model: 'claude-old', inputPrice: '3', outputPrice: '' } };
    const [claude, gemini] = hostedAgents(environmentAt(AT, { former }), { log });
    assert.deepEqual([claude?.model, claude?.price], ['claude-old', { inputPerMillion: 3, outputPerMillion: 10 }]);
    assert.equal(gemini?.model, models.agents.gemini.model);
    assert.equal(logged.length, 1);
  });
});

describe('package google-auth-library', () => {
  it('is installed once, so that the bundle contains one copy', () => {
    const lock: unknown = JSON.parse(readFileSync(new URL('../../../../package-lock.json', import.meta.url), 'utf8'));
    const paths = Object.keys(z.object({ packages: z.record(z.string(), z.unknown()) }).parse(lock).packages);
    const copies = paths.filter((path) => /(vertex-sdk|genai)\/node_modules\/google-auth-library$/.test(path));
    assert.deepEqual(copies, []);
  });
});
