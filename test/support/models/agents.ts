/** Hosted agents of models.json for tests, connected to local models. */
import models from '../../../functions/models.json' with { type: 'json' };
import { hostedAgents, type ModelEnvironment } from '../../../functions/src/composition/hostedAgents.ts';
import type { HostedAgent } from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { profilesOf, readModels } from '../../../functions/src/toolsets/orchestration/rules/agents/modelFile.ts';
import type { VertexSettings } from '../../../functions/src/vendors/vertexAccess.ts';

/** The agents that Muster has by default. */
export const PROFILES = profilesOf(readModels(models));

const log = { info: () => {}, warn: () => {}, error: () => {} };

/** Returns an environment with models.json, or with another file, in which `url` is the address of both vendors. */
export function environmentAt(url: string, changes: Partial<ModelEnvironment> = {}): ModelEnvironment {
  return {
    file: models,
    secrets: { ANTHROPIC_API_KEY: 'local-key', GEMINI_API_KEY: 'local-key' },
    addresses: { anthropic: url, gemini: url },
    former: {},
    project: 'demo-muster',
    hasGoogleLogin: true,
    ...changes,
  };
}

/** Returns the hosted agents of a deployment that calls the models at this URL. */
export function agentsAt(
  url: string,
  changes: Partial<ModelEnvironment> = {},
  identity?: VertexSettings['identity'],
): readonly HostedAgent[] {
  return hostedAgents(environmentAt(url, changes), { log, ...(identity && { identity }) });
}

/** Returns models.json with these models and this price for all its agents. */
export function fileWith(
  named: Readonly<Record<string, string>>,
  price: { readonly input: number; readonly output: number },
) {
  const agents = Object.entries(models.agents).map(([name, agent]) => [
    name,
    { ...agent, model: named[name] ?? agent.model, price },
  ]);
  return { ...models, agents: Object.fromEntries(agents) };
}
