/** The parameters of the models that orchestrations ask, and of what these may spend. */

import { defineInt, defineSecret, defineString } from 'firebase-functions/params';
import { bound, secretValue } from '../config.ts';

const anthropicApiKey = defineSecret('ANTHROPIC_API_KEY', {
  label: 'Anthropic API key',
  description: 'By which the agent claude is asked: sk-ant-…, or none.',
});

const anthropicBaseUrl = defineString('ANTHROPIC_BASE_URL', {
  label: 'Anthropic API',
  description: 'https://api.anthropic.com, or a gateway that speaks its Messages API.',
  default: 'https://api.anthropic.com',
});

const claudeModel = defineString('CLAUDE_MODEL', {
  label: 'Model of claude',
  description: 'The model that answers as the agent claude.',
  default: 'claude-sonnet-5-5',
});

const claudePrices = pricesOf('CLAUDE', 'claude', { input: '2', output: '10' });

const geminiApiKey = defineSecret('GEMINI_API_KEY', {
  label: 'Gemini API key',
  description: 'By which the agent gemini is asked: AIza…, or none.',
});

const geminiBaseUrl = defineString('GEMINI_BASE_URL', {
  label: 'Gemini API',
  description: 'https://generativelanguage.googleapis.com, or a gateway that speaks the Gemini API.',
  default: 'https://generativelanguage.googleapis.com',
});

const geminiModel = defineString('GEMINI_MODEL', {
  label: 'Model of gemini',
  description: 'The model that answers as the agent gemini.',
  default: 'gemini-3.8-flash',
});

const geminiPrices = pricesOf('GEMINI', 'gemini', { input: '0.75', output: '3.75' });

/** As text, since Firebase has no parameters with a fraction. What is no number is told by the agent's availability. */
function pricesOf(
  prefix: string,
  agent: string,
  defaults: { readonly input: string; readonly output: string },
) {
  const price = (kind: 'input' | 'output') =>
    defineString(`${prefix}_${kind.toUpperCase()}_PRICE`, {
      label: `Price of ${agent}'s ${kind}`,
      description: 'In US dollars for a million tokens.',
      default: defaults[kind],
    });
  return { input: price('input'), output: price('output') };
}

function priceIn({ input, output }: ReturnType<typeof pricesOf>) {
  return { inputPerMillion: dollars(input.value()), outputPerMillion: dollars(output.value()) };
}

function dollars(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

export const modelSecrets = bound(anthropicApiKey, geminiApiKey);

/** For the agents claude and gemini: who answers, at what price, and with which key. */
export function modelSettings() {
  const anthropicKey = secretValue(anthropicApiKey);
  const geminiKey = secretValue(geminiApiKey);
  return {
    claude: {
      ...(anthropicKey !== undefined && { apiKey: anthropicKey }),
      baseUrl: anthropicBaseUrl.value() || 'https://api.anthropic.com',
      model: claudeModel.value(),
      price: priceIn(claudePrices),
    },
    gemini: {
      ...(geminiKey !== undefined && { apiKey: geminiKey }),
      baseUrl: geminiBaseUrl.value() || 'https://generativelanguage.googleapis.com',
      model: geminiModel.value(),
      price: priceIn(geminiPrices),
    },
  };
}

const runBudgetTokens = defineInt('RUN_BUDGET_TOKENS', {
  label: 'Tokens of a run',
  description: 'How many tokens an orchestration may take where its caller does not say.',
  default: 500_000,
});

const runBudgetCents = defineInt('RUN_BUDGET_CENTS', {
  label: 'Cost of a run',
  description: 'How many US cents an orchestration may cost where its caller does not say.',
  default: 500,
});

/** What an orchestration may spend of which its caller says nothing. */
export function runBudget() {
  return { tokens: runBudgetTokens.value(), costUsd: runBudgetCents.value() / 100 };
}
