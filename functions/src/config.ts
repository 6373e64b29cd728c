/** Every parameter of a deployment, as config.json describes it. `firebase deploy` asks for those without a default. */
import { defineInt, defineSecret, defineString } from 'firebase-functions/params';
import parameters from './config.json' with { type: 'json' };

type Name<Kind extends keyof typeof parameters> = keyof (typeof parameters)[Kind];

const text = (name: Name<'strings'>) => defineString(name, parameters.strings[name]);
const whole = (name: Name<'integers'>) => defineInt(name, parameters.integers[name]);
const secret = (name: Name<'secrets'>) => defineSecret(name, parameters.secrets[name]);

/** The version that clients are told. A test holds it to package.json's. */
export const VERSION = '0.4.0';

/** How long one request may take. Calls answer within a minute; the rest is for streams. */
export const TIMEOUT_SECONDS = 300;

/** Streams end by themselves shortly before they would be cut. */
export const STREAMS = { lifetimeMs: 280_000, keepAliveMs: 15_000 };

/** Where the functions run. Firebase needs it while it deploys, so it is an option and not read at run time. */
export const region = text('REGION');

/** Which Firestore database triggers follow. At run time `kernel/firestore/client.ts` reads it from the environment. */
export const database = text('DATABASE_ID');

/** Of every function. */
export const everywhere = { region, serviceAccount: text('SERVICE_ACCOUNT') };

export const minInstances = whole('MIN_INSTANCES');
export const maxInstances = whole('MAX_INSTANCES');
export const concurrency = whole('CONCURRENCY');
const trustedProxiesCount = whole('TRUSTED_PROXIES');
const allowedOriginsList = text('ALLOWED_ORIGINS');
const publicUrlText = text('PUBLIC_URL');
const consoleUrlText = text('CONSOLE_URL');
const webApiKeyText = text('WEB_API_KEY');
const googleSignIn = text('GOOGLE_SIGN_IN');
const gitHubApiUrl = text('GITHUB_API_URL');
const gitHubAppId = text('GITHUB_APP_ID');
const gitHubRepositories = text('GITHUB_REPOSITORIES');
const gitHubAppPrivateKey = secret('GITHUB_APP_PRIVATE_KEY');
const gitHubToken = secret('GITHUB_TOKEN');
const gitHubWebhookSecret = secret('GITHUB_WEBHOOK_SECRET');
const pushServiceUrl = text('PUSH_SERVICE_URL');
const rateLimitPerSecond = whole('RATE_LIMIT_PER_SECOND');
const rateLimitBurst = whole('RATE_LIMIT_BURST');
const anthropicApiKey = secret('ANTHROPIC_API_KEY');
const anthropicBaseUrl = text('ANTHROPIC_BASE_URL');
const claudeModel = text('CLAUDE_MODEL');
const claudePrices = { input: text('CLAUDE_INPUT_PRICE'), output: text('CLAUDE_OUTPUT_PRICE') };
const geminiApiKey = secret('GEMINI_API_KEY');
const geminiBaseUrl = text('GEMINI_BASE_URL');
const geminiModel = text('GEMINI_MODEL');
const geminiPrices = { input: text('GEMINI_INPUT_PRICE'), output: text('GEMINI_OUTPUT_PRICE') };
const keepDays = {
  events: whole('KEEP_EVENTS_DAYS'),
  trail: whole('KEEP_TRAIL_DAYS'),
  logs: whole('KEEP_LOGS_DAYS'),
  runs: whole('KEEP_RUNS_DAYS'),
  tasks: whole('KEEP_TASKS_DAYS'),
  agents: whole('KEEP_AGENTS_DAYS'),
};
const runBudgetTokens = whole('RUN_BUDGET_TOKENS');
const runBudgetCents = whole('RUN_BUDGET_CENTS');

const isEmulator = (): boolean => process.env['FUNCTIONS_EMULATOR'] === 'true';

/** Secrets of a function. Emulators would ask the cloud at each start: there they come from `functions/.env.local`. */
const bound = (...secrets: ReturnType<typeof defineSecret>[]) => (isEmulator() ? [] : secrets);

export const gitHubSecrets = bound(gitHubAppPrivateKey, gitHubToken);
export const gitHubWebhookSecrets = bound(gitHubWebhookSecret);
export const modelSecrets = bound(anthropicApiKey, geminiApiKey);

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
    apiUrl: gitHubApiUrl.value() || parameters.strings.GITHUB_API_URL.default,
    ...(id !== '' && privateKey !== undefined && { app: { id, privateKey } }),
    ...(token !== undefined && { token }),
  };
}

/** What the members of open workspaces reach: `owner/name`, or `owner/*`. */
export function openRepositories(): readonly string[] {
  return gitHubRepositories
    .value()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

export function gitHubWebhookKey(): string | undefined {
  return secretValue(gitHubWebhookSecret);
}

/** `none`: the emulators have no push service, unless one is named. */
export function pushService(): { readonly url: string } | 'firebase' | 'none' {
  const url = pushServiceUrl.value();
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

/** Those that are configured, and the deployment's own sites on Firebase Hosting, on which the console is. */
export function allowedOrigins(): readonly string[] {
  const project = process.env['GCLOUD_PROJECT'] ?? '';
  const own = project === '' ? [] : [`https://${project}.web.app`, `https://${project}.firebaseapp.com`];
  const origins = allowedOriginsList.value().split(',');
  return [...own, ...origins.map((origin) => origin.trim()).filter((origin) => origin !== '')];
}

/** Returns how many proxies of the deployment are in front of Google's front end; none if the value is negative. */
export function trustedProxies(): number {
  return Math.max(0, trustedProxiesCount.value());
}

export function publicUrl(): string | undefined {
  return publicUrlText.value() || undefined;
}

/** Returns where people reach the console, to which mails and push messages link. */
export function consoleOrigin(): string {
  const url = consoleUrlText.value();
  return /^https?:/i.test(url) && URL.canParse(url)
    ? new URL(url).origin
    : `https://${process.env['GCLOUD_PROJECT'] ?? ''}.web.app`;
}

/** The function's own address, of which only what is below it leads to the function. */
export function functionUrl(): string | undefined {
  if (isEmulator()) return process.env['MUSTER_MCP_URL'];
  const project = process.env['GCLOUD_PROJECT'];
  return project && `https://${region.value()}-${project}.cloudfunctions.net/mcp`;
}

/** For the page on which people sign in, which asks Firebase Auth itself. */
export function signInSettings() {
  const project = process.env['GCLOUD_PROJECT'] ?? '';
  const emulator = isEmulator() ? process.env['FIREBASE_AUTH_EMULATOR_HOST'] : undefined;
  return {
    apiKey: webApiKey() || 'emulator',
    authDomain: `${project}.firebaseapp.com`,
    ...(emulator !== undefined && { emulator: `http://${emulator}` }),
    google: googleSignIn.value().trim().toLowerCase() === 'yes',
  };
}

/** Where the emulators find copies of the documents of well-known clients, on a machine without internet. */
export function clientDocumentsUrl(): string | undefined {
  return isEmulator() ? process.env['MUSTER_CLIENT_DOCUMENTS_URL'] : undefined;
}

/** Empty where none was given; the emulators need none. */
export function webApiKey(): string {
  return webApiKeyText.value();
}

/** The emulator takes the project, the region and the function's name off the path before it calls. */
export function mountPath(): string | undefined {
  return isEmulator() ? `/${process.env['GCLOUD_PROJECT'] ?? ''}/${region.value()}/mcp` : undefined;
}

/** Undefined where nobody is limited. */
export function rateLimit() {
  const perSecond = rateLimitPerSecond.value();
  return perSecond > 0 ? { perSecond, burst: Math.max(1, rateLimitBurst.value()) } : undefined;
}

/** Prices are text, since Firebase has no parameters with a fraction. What is no number is told by the agent's availability. */
function priceIn({ input, output }: typeof claudePrices) {
  return { inputPerMillion: dollars(input.value()), outputPerMillion: dollars(output.value()) };
}

function dollars(price: string): number {
  return price.trim() === '' ? Number.NaN : Number(price);
}

/** For the agents claude and gemini: who answers, at what price, and with which key. */
export function modelSettings() {
  const anthropicKey = secretValue(anthropicApiKey);
  const geminiKey = secretValue(geminiApiKey);
  return {
    claude: {
      ...(anthropicKey !== undefined && { apiKey: anthropicKey }),
      baseUrl: anthropicBaseUrl.value() || parameters.strings.ANTHROPIC_BASE_URL.default,
      model: claudeModel.value(),
      price: priceIn(claudePrices),
    },
    gemini: {
      ...(geminiKey !== undefined && { apiKey: geminiKey }),
      baseUrl: geminiBaseUrl.value() || parameters.strings.GEMINI_BASE_URL.default,
      model: geminiModel.value(),
      price: priceIn(geminiPrices),
    },
  };
}

/** What an orchestration may spend of which its caller says nothing. */
export function runBudget() {
  return { tokens: runBudgetTokens.value(), cost_usd: runBudgetCents.value() / 100 };
}

/** For how many days what has ended is kept; 0 for ever. */
export function retention() {
  return {
    events: keepDays.events.value(),
    trail: keepDays.trail.value(),
    logs: keepDays.logs.value(),
    runs: keepDays.runs.value(),
    tasks: keepDays.tasks.value(),
  };
}
