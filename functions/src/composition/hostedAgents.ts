/** The agents behind which a vendor's model answers. */
import { modelSettings } from '../config.ts';
import type { HostedAgent } from '../toolsets/orchestration/rules/agents/model.ts';
import { Claude } from '../vendors/anthropic/claude.ts';
import { Gemini } from '../vendors/gemini/gemini.ts';
import type { ModelSettings } from '../vendors/vendorModel.ts';

export function hostedAgents({ claude, gemini }: Readonly<Record<'claude' | 'gemini', ModelSettings>>) {
  return [new Claude(claude), new Gemini(gemini)];
}

/** The agents that this deployment has parameters for, made on first use: their keys are known only then. */
export function deployedAgents(): () => readonly HostedAgent[] {
  let agents: readonly HostedAgent[] | undefined;
  return () => {
    agents ??= hostedAgents(modelSettings());
    return agents;
  };
}
