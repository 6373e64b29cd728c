/** Hosted agents of both vendors for tests, connected to local models. */
import assert from 'node:assert/strict';
import {
  type HostedAgent,
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
} from '../../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { Claude } from '../../../../functions/src/vendors/anthropic/claude.ts';
import { Gemini } from '../../../../functions/src/vendors/gemini/gemini.ts';
import type { Match } from '../../../support/models/behavior.ts';
import { LocalModels } from '../../../support/models/server.ts';

/** Key of the models. Tests search all output for this text. */
export const KEY = 'local-key-that-nobody-may-see';

/** Name of the vendor's API for each hosted agent. */
export const VENDORS = { claude: 'anthropic', gemini: 'gemini' } as const;
export type AgentName = keyof typeof VENDORS;
export const AGENTS: readonly AgentName[] = ['claude', 'gemini'];

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

export function agentAt(
  name: AgentName,
  { apiKey = KEY, baseUrl }: Partial<AgentSettings> & { readonly baseUrl: string },
) {
  const price = { inputPerMillion: 1, outputPerMillion: 2 };
  const settings = { apiKey, baseUrl, model: `${name}-test`, price };
  return name === 'claude' ? new Claude(settings) : new Gemini(settings);
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
