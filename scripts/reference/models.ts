/** The models' half of the page "Which agents and models work", from models.json and the APIs of its providers. */
import models from '../../functions/models.json' with { type: 'json' };
import {
  type ModelProvider,
  profilesOf,
  readModels,
} from '../../functions/src/toolsets/orchestration/rules/agents/modelFile.ts';
import { table } from './tables.ts';

/** Models, credential and notes for each API. A new API of models.json does not compile until it has a row. */
const APIS: Readonly<Record<ModelProvider['api'], readonly [models: string, credential: string, notes: string]>> = {
  anthropic: ['Claude, with the Messages API', '`ANTHROPIC_API_KEY`', ''],
  gemini: ['Gemini, with the Gemini API', '`GEMINI_API_KEY`', ''],
  openai: [
    'OpenAI and Azure, with the Responses API',
    '`MODEL_KEYS`',
    'OpenAI stores no response; at least 16 output tokens are requested',
  ],
  'openai-compatible': [
    'Ollama, vLLM, OpenRouter, LiteLLM, Azure and others, with the Chat Completions API',
    '`MODEL_KEYS`, or none',
    'if the server reports no usage, the usage is estimated',
  ],
  vertex: [
    'Claude and Gemini on Vertex AI',
    "none: the functions' service account",
    'a model whose name starts with `claude` is a Claude model, and any other is a Gemini model',
  ],
};

/** Returns the sections about models. */
export function modelSections(): readonly string[] {
  const agents = profilesOf(readModels(models)).map(
    ({ name, provider, model, price, capabilities, maxOutputTokens }) => [
      `\`${name}\``,
      `\`${provider}\``,
      `\`${model}\``,
      price === undefined ? 'unknown' : `$${price.inputPerMillion}, $${price.outputPerMillion}`,
      String(capabilities.contextWindow),
      String(maxOutputTokens),
    ],
  );
  return [
    '## Models',
    'Muster calls these models itself, as hosted agents. [Models](../guides/models.md) describes how to add one. The same tests run for every API: answers, streams, failures, usage, races, cancellation, and that no key or text of a vendor is shown.',
    table(
      ['`api`', 'models', 'credential', 'notes'],
      Object.entries(APIS).map(([api, row]) => [`\`${api}\``, ...row]),
    ),
    'The file `functions/models.json` contains these agents. Prices are per million input and output tokens.',
    table(['agent', 'provider', 'model', 'prices', 'context window', 'maximum output'], agents),
  ];
}
