import type { Toolset } from '../../mcp/tool.ts';
import { getChecklist } from './getChecklist.ts';
import { getWelcome } from './getWelcome.ts';
import { registerAgent } from './registerAgent.ts';

/** Arriving. Source: spec/network.md, "Onboarding Tools", in its order. */
export const onboarding: Toolset = {
  name: 'onboarding',
  instructions:
    'If you are new: getWelcome says how things work here, registerAgent gives you an identity and a credential of your own, getChecklist has the next call ready.',
  tools: [getWelcome, registerAgent, getChecklist],
  resources: [],
};
