/** Every parameter of a deployment. `firebase deploy` asks for those without a default. */
import { defineInt, defineSecret, defineString } from 'firebase-functions/params';

/** Where the functions run. Firebase needs it while it deploys, so it is an option and not read at run time. */
export const region = defineString('REGION', {
  label: 'Region',
  description: 'The Google Cloud region of the functions, near Firestore and the Realtime Database.',
  default: 'us-central1',
});

export const minInstances = defineInt('MIN_INSTANCES', {
  label: 'Warm instances',
  description:
    'How many instances of the MCP endpoint stay warm. 0 costs nothing; the first call then waits.',
  default: 0,
});

/** How long one request may take. Calls answer within a minute; the rest is for streams. */
export const TIMEOUT_SECONDS = 300;

/** Streams end by themselves shortly before they would be cut. */
export const STREAMS = { lifetimeMs: 280_000, keepAliveMs: 15_000 };

const allowedOriginsList = defineString('ALLOWED_ORIGINS', {
  label: 'Allowed origins',
  description:
    'Web pages that may call the MCP endpoint beside local ones, by commas: https://console.example',
  default: '',
});

const publicUrlText = defineString('PUBLIC_URL', {
  label: 'Public URL',
  description: 'Where callers reach the MCP endpoint, if not at its own address: https://muster.example/mcp',
  default: '',
});

const webApiKeyText = defineString('WEB_API_KEY', {
  label: 'Web API key',
  description: "The project's, by which agents are signed in to read and write data as themselves: AIza…",
  default: '',
});

const gitHubApiUrl = defineString('GITHUB_API_URL', {
  label: 'GitHub API',
  description: 'https://api.github.com, or https://host/api/v3 of a GitHub Enterprise Server.',
  default: 'https://api.github.com',
});

const gitHubAppId = defineString('GITHUB_APP_ID', {
  label: 'GitHub App',
  description: 'The id of the GitHub App by which agents reach repositories, or nothing.',
  default: '',
});

const gitHubAppPrivateKey = defineSecret('GITHUB_APP_PRIVATE_KEY', {
  label: 'Private key of the GitHub App',
  description: 'The PEM file that GitHub made, or none.',
});

const gitHubToken = defineSecret('GITHUB_TOKEN', {
  label: 'GitHub token',
  description: 'A personal access token, where there is no App; or none.',
});

const gitHubWebhookSecret = defineSecret('GITHUB_WEBHOOK_SECRET', {
  label: 'Secret of the GitHub webhook',
  description: 'What GitHub signs its deliveries with, or none.',
});

/**
 * Secrets to bind to a function. The emulators would ask the cloud for them each time they start one: there they
 * come from `functions/.env.local` like every other parameter.
 */
const bound = (...secrets: ReturnType<typeof defineSecret>[]) =>
  process.env['FUNCTIONS_EMULATOR'] === 'true' ? [] : secrets;

export const gitHubSecrets = bound(gitHubAppPrivateKey, gitHubToken);

export const gitHubWebhookSecrets = bound(gitHubWebhookSecret);

/** `firebase deploy` takes no empty secret, so that "none" stands for one. */
function secretValue({ name }: { readonly name: string }): string | undefined {
  const value = process.env[name]?.trim() ?? '';
  return value === '' || value === 'none' ? undefined : value;
}

export function gitHubSettings() {
  const id = gitHubAppId.value();
  const privateKey = secretValue(gitHubAppPrivateKey);
  const token = secretValue(gitHubToken);
  return {
    apiUrl: gitHubApiUrl.value() || 'https://api.github.com',
    ...(id !== '' && privateKey !== undefined && { app: { id, privateKey } }),
    ...(token !== undefined && { token }),
  };
}

export function gitHubWebhookKey(): string | undefined {
  return secretValue(gitHubWebhookSecret);
}

const pushServiceUrlText = defineString('PUSH_SERVICE_URL', {
  label: 'Push service',
  description: 'Instead of Firebase Cloud Messaging, a local service that speaks its HTTP v1, or nothing.',
  default: '',
});

const isEmulator = (): boolean => process.env['FUNCTIONS_EMULATOR'] === 'true';

/** `none`: the emulators have no push service, unless one is named. */
export function pushService(): { readonly url: string } | 'firebase' | 'none' {
  const url = pushServiceUrlText.value();
  if (url !== '') return { url };
  return isEmulator() ? 'none' : 'firebase';
}

/** Whether events travel by Pub/Sub. Only on a machine without its emulator they do not. */
export function hasPubSub(): boolean {
  return !isEmulator() || (process.env['PUBSUB_EMULATOR_HOST'] ?? '') !== '';
}

/** Where the emulators find how far their time is moved; undefined in production, whose time nobody moves. */
export function clockFile(): string | undefined {
  return isEmulator() ? process.env['MUSTER_CLOCK_FILE'] : undefined;
}

const rateLimitPerSecond = defineInt('RATE_LIMIT_PER_SECOND', {
  label: 'Calls a second',
  description: 'How many calls a second each agent and person may make for long. 0 limits nobody.',
  default: 100,
});

const rateLimitBurst = defineInt('RATE_LIMIT_BURST', {
  label: 'Calls at once',
  description: 'How many calls each agent and person may make at once.',
  default: 500,
});

export function allowedOrigins(): readonly string[] {
  return allowedOriginsList
    .value()
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
}

export function publicUrl(): string | undefined {
  return publicUrlText.value() || undefined;
}

/** Empty where none was given; the emulators need none. */
export function webApiKey(): string {
  return webApiKeyText.value();
}

/** The emulator takes the project, the region and the function's name off the path before it calls. */
export function mountPath(): string | undefined {
  if (process.env['FUNCTIONS_EMULATOR'] !== 'true') return undefined;
  return `/${process.env['GCLOUD_PROJECT'] ?? ''}/${region.value()}/mcp`;
}

/** Undefined where nobody is limited. */
export function rateLimit() {
  const perSecond = rateLimitPerSecond.value();
  return perSecond > 0 ? { perSecond, burst: Math.max(1, rateLimitBurst.value()) } : undefined;
}

/** The version that clients are told. A test holds it to package.json's. */
export const VERSION = '0.1.0';

// The parameters of the models that orchestrations ask, and of what these may spend.

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
