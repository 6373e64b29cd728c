/** What the hosted agents are good at. Source: spec/orchestration.md, list_agents, response example. */
import { MusterError } from '../../../../kernel/errors.ts';
import type { Attempt } from '../../store/runDocument.ts';
import type { AgentMeasure } from '../../store/workflows.ts';

/** What an agent does in a step. */
export const ROLES = ['plan', 'execute', 'review'] as const;

export type AgentRole = (typeof ROLES)[number];

/** In the specification's order. Capabilities from 0 to 1, and the context window in tokens. */
export const PROFILES = [
  {
    name: 'claude',
    capabilities: { planning: 0.95, execution: 0.85, review: 0.9, contextWindow: 200_000 },
  },
  {
    name: 'gemini',
    capabilities: { planning: 0.85, execution: 0.95, review: 0.8, contextWindow: 1_000_000 },
  },
];

export type AgentProfile = Readonly<(typeof PROFILES)[number]>;

export const HOSTED_AGENTS: readonly string[] = PROFILES.map(({ name }) => name);

/** Stands for the agent that fits best. */
export const AUTO = 'auto';

/** Stands for any live agent of the network that has the capabilities that a step asks for. */
export const NETWORK = 'network';

/** Whether a step may name it. */
export function isAgent(name: string): boolean {
  return name === AUTO || name === NETWORK || HOSTED_AGENTS.includes(name);
}

/** The end of an error about a name that no agent has. */
export function unknownAgent(name: string): string {
  return `there is no agent "${name}"; there are ${HOSTED_AGENTS.join(', ')}, ${AUTO}, and ${NETWORK} for a live agent with the step's capabilities.`;
}

/** Which capability a role needs. */
export const CAPABILITY_OF = { plan: 'planning', execute: 'execution', review: 'review' } as const;

const ROLE_WORDS = {
  plan: ['plan', 'planner', 'planning'],
  execute: ['execute', 'executor', 'execution'],
  review: ['review', 'reviewer', 'reviewing'],
};

/** The role that a word means, as role or as capability; undefined where it means none. */
export function roleNamed(word: string): AgentRole | undefined {
  return ROLES.find((role) => ROLE_WORDS[role].includes(word.trim().toLowerCase()));
}

/** @throws MusterError VALIDATION_ERROR where the word means no role */
export function requireRole(word: string, field: string): AgentRole {
  const role = roleNamed(word);
  if (role !== undefined) return role;
  throw new MusterError('VALIDATION_ERROR', `No role "${word}".`, {
    field,
    value: word,
    suggestion: `The roles are ${ROLES.join(', ')}.`,
  });
}

/** How good an agent is at a role, from 0 to 1; 0 where nothing is known of it. */
export function capabilityFor(agent: string, role: AgentRole): number {
  return profileOf(agent)?.capabilities[CAPABILITY_OF[role]] ?? 0;
}

export function profileOf(agent: string): AgentProfile | undefined {
  return PROFILES.find(({ name }) => name === agent);
}

/** What became of no fault or merit of the agent's: it was not asked, or called off. */
const UNMEASURED: readonly Attempt['end'][] = ['unavailable', 'over_budget', 'interrupted', 'aborted'];

/** By agent. Attempts that an earlier execution has made, and counted, must not be among them. */
export function measuresOf(attempts: readonly Attempt[]): readonly AgentMeasure[] {
  const measured = attempts.filter(({ end }) => !UNMEASURED.includes(end));
  return [...new Set(measured.map(({ agent }) => agent))].map((agent) => {
    const own = measured.filter((attempt) => attempt.agent === agent);
    const answered = own.filter(({ end }) => end === 'answered');
    const milliseconds = answered.reduce((sum, attempt) => sum + attempt.milliseconds, 0);
    return { agent, requests: own.length, answered: answered.length, milliseconds };
  });
}

/** Times in milliseconds from request to the end of the answer; undefined without a request: nothing is made up. */
export function metricsOf(measure: AgentMeasure | undefined) {
  if (measure === undefined || measure.requests === 0) return undefined;
  const { requests, answered, milliseconds } = measure;
  return {
    ...(answered > 0 && { avgResponseTime: Math.round(milliseconds / answered) }),
    successRate: answered / requests,
    totalRequests: requests,
  };
}

/** What commits may change of measures. */
export interface MeasureChanges {
  /** Adds to what has been measured of the agent. */
  readonly measureAgent: { readonly measure: AgentMeasure };
}

declare module '../../../../kernel/commit.ts' {
  interface ChangeKinds extends MeasureChanges {}
}
