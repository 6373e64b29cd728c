/** Hosted agents of all vendors for tests, connected to local models. */
import assert from 'node:assert/strict';
import { AuthClient } from 'google-auth-library';
import {
  type HostedAgent,
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
} from '../../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { agentsAt } from '../../../support/models/agents.ts';
import type { Match } from '../../../support/models/behavior.ts';
import type { Vendor } from '../../../support/models/dialect.ts';
import { LocalModels } from '../../../support/models/server.ts';

/** Key of the models. Tests search all output for this text. */
export const KEY = 'local-key-that-nobody-may-see';

/** The local model that serves each hosted agent. Each agent uses another dialect. */
export const VENDORS = {
  claude: 'anthropic',
  gemini: 'gemini',
  openai: 'openai',
  local: 'chat',
  'vertex-claude': 'vertex-claude',
  'vertex-gemini': 'vertex-gemini',
} as const satisfies Readonly<Record<string, Vendor>>;
export type AgentName = keyof typeof VENDORS;
export const AGENTS: readonly AgentName[] = ['claude', 'gemini', 'openai', 'local', 'vertex-claude', 'vertex-gemini'];

/** Number of events of each dialect after which two pieces of the text have arrived. */
export const TWO_PIECES: Readonly<Record<AgentName, number>> = {
  claude: 5,
  gemini: 2,
  openai: 6,
  local: 3,
  'vertex-claude': 5,
  'vertex-gemini': 2,
};

/** Agents whose vendor reports the tokens of the prompt only at the end of the response. */
export const REPORTS_LAST: readonly AgentName[] = ['openai', 'local'];

/** Timeout in milliseconds that is much longer than any test. */
const PATIENCE_MS = 120_000;

export interface Stage {
  readonly models: LocalModels;
  agent(name: AgentName, settings?: Partial<AgentSettings>): HostedAgent;
}

export interface AgentSettings {
  readonly apiKey: string;
  readonly baseUrl: string;
}

/** Starts local models for a suite. At the end, asserts that all requests matched the types of the vendors' SDKs. */
export function fixture(): Stage {
  const models = new LocalModels();
  before(() => models.start());
  after(async () => {
    await models.stop();
    assert.deepEqual(models.problems, []);
  });
  return { models, agent: (name, settings = {}) => agentAt(name, { baseUrl: models.url, ...settings }) };
}

/** An identity of Google whose token is this text. Without a token, Google issues none. */
export class LocalIdentity extends AuthClient {
  private readonly token: string | undefined;

  constructor(token: string | undefined) {
    super();
    this.token = token;
  }

  override async getRequestHeaders(): Promise<Headers> {
    if (this.token === undefined) throw new Error(`Could not refresh the token of ${KEY}.`);
    return new Headers({ authorization: `Bearer ${this.token}` });
  }

  override async getAccessToken(): Promise<{ token: string | null }> {
    return { token: this.token ?? null };
  }

  override async request(): Promise<never> {
    throw new Error('Only the SDKs send requests.');
  }
}

/** Returns the name of the agent's model. On Vertex AI, the vendor follows from the beginning of the name. */
export function modelOf(name: AgentName): string {
  return `${name.replace('vertex-', '')}-test`;
}

export function agentAt(
  name: AgentName,
  { apiKey = KEY, baseUrl }: Partial<AgentSettings> & { readonly baseUrl: string },
  identity: AuthClient = new LocalIdentity(apiKey),
): HostedAgent {
  const price = { input: 1, output: 2 };
  const served = (provider: string) => ({ provider, model: modelOf(name), price });
  const file = {
    providers: {
      anthropic: { api: 'anthropic' },
      google: { api: 'gemini' },
      openai: { api: 'openai', baseUrl: `${baseUrl}/v1` },
      house: { api: 'openai-compatible', baseUrl: `${baseUrl}/v1`, costField: 'cost' },
      vertex: { api: 'vertex', baseUrl },
    },
    agents: {
      claude: served('anthropic'),
      gemini: served('google'),
      openai: { ...served('openai'), effort: 'low' },
      local: served('house'),
      'vertex-claude': served('vertex'),
      'vertex-gemini': served('vertex'),
    },
  };
  const secrets = {
    ANTHROPIC_API_KEY: apiKey,
    GEMINI_API_KEY: apiKey,
    MODEL_KEYS: JSON.stringify({ openai: apiKey, house: apiKey }),
  };
  const agents = agentsAt(baseUrl, { file, secrets }, async () => identity);
  return agents.find((agent) => agent.name === name) ?? assert.fail();
}

/** Returns a unique prompt, and an expression that matches this prompt. */
export function question(name: AgentName, about: string) {
  const prompt = `${about} (${crypto.randomUUID()})`;
  const match: Match = { vendor: VENDORS[name], text: prompt };
  return { prompt, match };
}

export function ask(
  agent: HostedAgent,
  request: Partial<ModelRequest> & { readonly prompt: string },
  options: { readonly signal?: AbortSignal; readonly onText?: (text: string) => void } = {},
): Promise<ModelAnswer> {
  return agent.ask({ maxOutputTokens: 1000, ...request }, { signal: AbortSignal.timeout(PATIENCE_MS), ...options });
}

/** Returns the failure of a request, or throws an error if the request succeeds. */
export async function failureOf(asking: Promise<ModelAnswer>): Promise<ModelFailure> {
  const outcome = await asking.then(
    (answer) => new Error(`it answered: ${answer.text}`),
    (error: unknown) => error,
  );
  if (outcome instanceof ModelFailure) return outcome;
  throw outcome;
}
