import type { Toolset } from '../../mcp/tool.ts';
import { registerAgent } from './registerAgent.ts';

/** Arriving. Source: spec/network.md, "Onboarding Tools". */
export const onboarding: Toolset = {
  name: 'onboarding',
  instructions: 'registerAgent gives an agent an identity and a credential of its own.',
  tools: [registerAgent],
  resources: [],
};
