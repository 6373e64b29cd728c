/** Parameters of a deployment, described in config.json. `firebase deploy` asks for parameters without a default. */
import { defineInt, defineJsonSecret, defineSecret, defineString } from 'firebase-functions/params';
import models from '../models.json' with { type: 'json' };
import parameters from './config.json' with { type: 'json' };

type Name<Kind extends keyof typeof parameters> = keyof (typeof parameters)[Kind];

const text = (name: Name<'strings'>) => defineString(name, parameters.strings[name]);
const whole = (name: Name<'integers'>) => defineInt(name, parameters.integers[name]);
const secret = (name: Name<'secrets'>) => defineSecret(name, parameters.secrets[name]);

/** Version that clients see. A test asserts that package.json has the same version. */
export const VERSION = '0.4.0';

/** Time limit of a request in seconds. Calls respond within a minute, but streams stay open longer. */
export const TIMEOUT_SECONDS = 300;

/** Streams end shortly before the platform's time limit would interrupt them. */
export const STREAMS = { lifetimeMs: 280_000, keepAliveMs: 15_000 };

/** Region of the functions. It is a parameter, because Firebase needs it during deployment and not at run time. */
export const region = text('REGION');

/** Database of the Firestore triggers. At run time, `kernel/firestore/client.ts` reads it from the environment. */
export const database = text('DATABASE_ID');
export const globalOptions = { region, serviceAccount: text('SERVICE_ACCOUNT') };
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
const mailFrom = text('MAIL_FROM');
const smtpUrl = secret('SMTP_URL');
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
const modelKeys = defineJsonSecret('MODEL_KEYS', parameters.secrets.MODEL_KEYS);
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

/** Returns the secrets of a function. Emulators read `functions/.env.local` instead, to avoid calls to the cloud. */
const bound = (...secrets: (ReturnType<typeof defineSecret> | typeof modelKeys)[]) => (isEmulator() ? [] : secrets);

export const gitHubSecrets = bound(gitHubAppPrivateKey, gitHubToken);
export const gitHubWebhookSecrets = bound(gitHubWebhookSecret);
export const mailSecrets = bound(smtpUrl);
export const modelSecrets = bound(anthropicApiKey, geminiApiKey, modelKeys);

/** Returns a secret. `firebase deploy` accepts no empty secret, so the value "none" stands for no secret. */
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

/** Returns the repositories that members of open workspaces can access: `owner/name`, or `owner/*`. */
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

/** Returns the SMTP server; undefined if none is configured. Firebase's extension may then send the emails. */
export function smtpSettings() {
  const url = secretValue(smtpUrl);
  return url === undefined ? undefined : { url, from: mailFrom.value() };
}

/** Returns the push service. In the emulators, it is `none` unless one is configured. */
export function pushService(): { readonly url: string } | 'firebase' | 'none' {
  const url = pushServiceUrl.value();
  if (url !== '') return { url };
  return isEmulator() ? 'none' : 'firebase';
}

/** Returns whether Pub/Sub delivers events. It always does, except in emulators without Pub/Sub. */
export function hasPubSub(): boolean {
  return !isEmulator() || (process.env['PUBSUB_EMULATOR_HOST'] ?? '') !== '';
}

/** Returns the path of the file with the offset of the simulated clock; undefined in production. */
export function clockFile(): string | undefined {
  return isEmulator() ? process.env['MUSTER_CLOCK_FILE'] : undefined;
}

/** Returns the configured origins, and those of the project's Firebase Hosting sites, which serve the console. */
export function allowedOrigins(): readonly string[] {
  const project = process.env['GCLOUD_PROJECT'] ?? '';
  const own = project === '' ? [] : [`https://${project}.web.app`, `https://${project}.firebaseapp.com`];
  const origins = allowedOriginsList.value().split(',');
  return [...own, ...origins.map((origin) => origin.trim()).filter((origin) => origin !== '')];
}

/** Returns the number of proxies in front of Google's front end; 0 if the value is negative. */
export function trustedProxies(): number {
  return Math.max(0, trustedProxiesCount.value());
}

export function publicUrl(): string | undefined {
  return publicUrlText.value() || undefined;
}

/** Returns the origin of the console, for links in emails and push messages. */
export function consoleOrigin(): string {
  const url = consoleUrlText.value();
  return /^https?:/i.test(url) && URL.canParse(url)
    ? new URL(url).origin
    : `https://${process.env['GCLOUD_PROJECT'] ?? ''}.web.app`;
}

/** Returns the URL of the function itself. Only paths below this URL reach the function. */
export function functionUrl(): string | undefined {
  if (isEmulator()) return process.env['MUSTER_MCP_URL'];
  const project = process.env['GCLOUD_PROJECT'];
  return project && `https://${region.value()}-${project}.cloudfunctions.net/mcp`;
}

/** Returns settings for the sign-in page, which calls Firebase Auth from the browser. */
export function signInSettings() {
  const project = process.env['GCLOUD_PROJECT'] ?? '';
  const emulator = isEmulator() ? process.env['FIREBASE_AUTH_EMULATOR_HOST'] : undefined;
  return {
    apiKey: webApiKey() || 'emulator',
    authDomain: `${project}.firebaseapp.com`,
    ...(emulator !== undefined && { emulator: `http://${emulator}` }),
    // `npm start` sets this variable. The page is loaded only when it is opened, and parses the text then.
    samplePeople: (isEmulator() && process.env['MUSTER_SAMPLE_PEOPLE']) || '[]',
    google: googleSignIn.value().trim().toLowerCase() === 'yes',
  };
}

/** Returns the URL from which emulators without internet access read metadata documents of well-known clients. */
export function clientDocumentsUrl(): string | undefined {
  return isEmulator() ? process.env['MUSTER_CLIENT_DOCUMENTS_URL'] : undefined;
}

/** Returns the web API key, or an empty text if none is set. The emulators need no key. */
export function webApiKey(): string {
  return webApiKeyText.value();
}

/** Returns the path that the emulator removes from request URLs. It contains project, region and function name. */
export function mountPath(): string | undefined {
  return isEmulator() ? `/${process.env['GCLOUD_PROJECT'] ?? ''}/${region.value()}/mcp` : undefined;
}

/** Returns the rate limit that applies to each caller; undefined if calls are not limited. */
export function rateLimit() {
  const perSecond = rateLimitPerSecond.value();
  return perSecond > 0 ? { perSecond, burst: Math.max(1, rateLimitBurst.value()) } : undefined;
}

/** Returns models.json, not validated, the keys of its providers, and the parameters that it has replaced. */
export function modelEnvironment() {
  const local = isEmulator() ? process.env['MUSTER_MODELS'] : undefined;
  const file: unknown = local === undefined ? models : JSON.parse(local);
  const parametersOf = (model: ReturnType<typeof text>, { input, output }: typeof claudePrices) => ({
    model: model.value(),
    inputPrice: input.value(),
    outputPrice: output.value(),
  });
  /** Parameters of versions before models.json. A parameter that is not empty takes precedence over the file. */
  const former: Readonly<Record<string, ReturnType<typeof parametersOf>>> = {
    claude: parametersOf(claudeModel, claudePrices),
    gemini: parametersOf(geminiModel, geminiPrices),
  };
  return {
    file,
    secrets: Object.fromEntries([anthropicApiKey, geminiApiKey, modelKeys].map((one) => [one.name, secretValue(one)])),
    addresses: {
      anthropic: anthropicBaseUrl.value() || parameters.strings.ANTHROPIC_BASE_URL.default,
      gemini: geminiBaseUrl.value() || parameters.strings.GEMINI_BASE_URL.default,
    },
    former,
    project: process.env['GCLOUD_PROJECT'] ?? '',
    /** Whether the process has credentials of Google. The emulators have none, unless the developer has signed in. */
    hasGoogleLogin: !isEmulator() || process.env['MUSTER_GOOGLE_LOGIN'] === 'yes',
  };
}

/** Returns the budget of a run, if the caller that starts the run sets none. 0 cents mean no limit in US dollars. */
export function runBudget() {
  const cents = runBudgetCents.value();
  return { tokens: runBudgetTokens.value(), cost_usd: cents === 0 ? undefined : cents / 100 };
}

/** Returns for how many days ended work is kept. 0 means that it is kept forever. */
export function retention() {
  return {
    events: keepDays.events.value(),
    trail: keepDays.trail.value(),
    logs: keepDays.logs.value(),
    runs: keepDays.runs.value(),
    tasks: keepDays.tasks.value(),
  };
}
