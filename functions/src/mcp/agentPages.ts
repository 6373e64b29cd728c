/**
 * What an agent reads with a plain GET: the endpoints that onboarding.registerAgent names. Each is one call of a tool
 * with the caller's own arguments, so that it is authorised, limited, logged and counted as any call.
 */
import type { JsonObject } from '../domain/json.ts';
import type { Principal } from '../domain/principal.ts';

export interface AgentPage {
  readonly toolset: string;
  readonly tool: string;
  readonly argumentsFor: (caller: Principal) => JsonObject;
}

const NAMES = ['messages', 'tasks', 'status'] as const;

export type AgentPageName = (typeof NAMES)[number];

const PAGES: Readonly<Record<AgentPageName, AgentPage>> = {
  messages: {
    toolset: 'firebase',
    tool: 'read',
    argumentsFor: ({ agentId, uid }) => ({
      database: 'realtime',
      path: `messages/agents/${agentId ?? uid}`,
      query: { limit: 100 },
    }),
  },
  tasks: {
    toolset: 'system',
    tool: 'getTaskQueue',
    argumentsFor: ({ agentId }) => (agentId === undefined ? {} : { agentId }),
  },
  status: { toolset: 'system', tool: 'getSystemStatus', argumentsFor: () => ({}) },
};

/** The pages that a deployment with these toolsets has. */
export function agentPagesOf(existing: readonly string[]): readonly AgentPageName[] {
  return NAMES.filter((name) => existing.includes(PAGES[name].toolset));
}

export function agentPage(name: AgentPageName): AgentPage {
  return PAGES[name];
}
