import assert from 'node:assert/strict';
import models from '../../../functions/models.json' with { type: 'json' };
import { profilesOf, readModels } from '../../../functions/src/toolsets/orchestration/rules/agents/modelFile.ts';

const providers = { house: { api: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', key: false } };
const local = { provider: 'house', model: 'qwen3:32b' };

describe('models.json', () => {
  it('has defaults for everything that an agent does not specify, except the price', () => {
    assert.deepEqual(profilesOf(readModels({ providers, agents: { local } })), [
      {
        name: 'local',
        provider: 'house',
        model: 'qwen3:32b',
        price: undefined,
        capabilities: { planning: 0.7, execution: 0.7, review: 0.7, contextWindow: 128_000 },
        maxOutputTokens: 16_000,
      },
    ]);
    const free = { ...local, price: { input: 0, output: 0 } };
    const [{ price } = assert.fail()] = profilesOf(readModels({ providers, agents: { free } }));
    assert.deepEqual(price, { inputPerMillion: 0, outputPerMillion: 0 }, 'a price of 0 means that the model is free');
  });

  it('has the agents of the specification, in its order, with its capabilities', () => {
    const shown = profilesOf(readModels(models)).map(({ name, capabilities }) => ({ name, ...capabilities }));
    assert.deepEqual(shown, [
      { name: 'claude', planning: 0.95, execution: 0.85, review: 0.9, contextWindow: 200_000 },
      { name: 'gemini', planning: 0.85, execution: 0.95, review: 0.8, contextWindow: 1_000_000 },
    ]);
  });

  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`local-${index}`, local]));
  const faults: Readonly<Record<string, readonly [file: unknown, paths: readonly string[]]>> = {
    'is no object': ['{}', ['the file']],
    'has no parts': [{}, ['providers', 'agents']],
    'has an unknown part': [{ providers, agents: { local }, prices: {} }, ['the file']],
    'has no agent': [{ providers, agents: {} }, ['agents']],
    'has too many agents': [{ providers, agents: many }, ['agents']],
    'has reserved and invalid names': [
      { providers, agents: { auto: local, network: local, Local: local, l: local } },
      ['agents.auto', 'agents.network', 'agents.Local', 'agents.l'],
    ],
    'names unknown providers and settings': [
      { providers, agents: { local: { ...local, provider: 'home', cost: 1, price: { input: -1 } } } },
      ['agents.local.provider', 'agents.local.price.input', 'agents.local.price.output', 'agents.local'],
    ],
    'has values out of range': [
      { providers, agents: { local: { ...local, context: 10, maxOutput: 1.5, planning: 2, model: 'a b' } } },
      ['agents.local.model', 'agents.local.context', 'agents.local.maxOutput', 'agents.local.planning'],
    ],
    'has invalid providers': [
      {
        providers: { a: providers.house, house: { api: 'openai-compatible' }, other: { api: 'telepathy' }, v1: 1 },
        agents: { local },
      },
      ['providers.a', 'providers.house.baseUrl', 'providers.other.api', 'providers.v1'],
    ],
    'sets an effort for an API without efforts': [
      {
        providers: { google: { api: 'gemini' } },
        agents: { gemini: { provider: 'google', model: 'gemini-x', effort: 'low' } },
      },
      ['agents.gemini.effort'],
    ],
  };
  for (const [title, [file, paths]] of Object.entries(faults))
    it(`is refused with the path of each fault if it ${title}`, () => {
      assert.throws(
        () => readModels(file, 'models.demo.json'),
        ({ message }: Error) => {
          const [first = '', ...lines] = message.split('\n');
          assert.equal(first, 'models.demo.json is invalid:');
          assert.deepEqual([...new Set(lines.map((line) => line.trim().split(': ')[0]))].sort(), [...paths].sort());
          return true;
        },
      );
    });
});
