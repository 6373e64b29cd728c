import type { Toolset } from '../../mcp/tool.ts';
import type { OnboardingServices } from './create.ts';
import { registerAgent } from './tools/registerAgent.ts';
import { getChecklist, getWelcome } from './tools/welcome.ts';

/** Tools for new agents, in the order of the network specification, "Onboarding Tools". */
export const onboarding: Toolset<OnboardingServices> = {
  name: 'onboarding',
  instructions: 'Start here: onboarding.getWelcome explains Muster, onboarding.registerAgent creates your credential.',
  tools: [getWelcome, registerAgent, getChecklist],
  resources: [],
};
