/** Composes the models that orchestrations may ask. */
import { Claude } from '../adapters/anthropic/claude.ts';
import { Gemini } from '../adapters/gemini/gemini.ts';
import type { ModelSettings } from '../adapters/models/settings.ts';
import type { HostedAgent } from '../domain/orchestration/ports.ts';

export interface HostedAgentSettings {
  readonly claude: ModelSettings;
  readonly gemini: ModelSettings;
}

export function hostedAgents({ claude, gemini }: HostedAgentSettings): readonly HostedAgent[] {
  return [new Claude(claude), new Gemini(gemini)];
}
