/** What the hosted agents are good at. Source: spec/orchestration.md, list_agents, response example. */
import { MusterError } from '../../../../kernel/errors.ts';
import type { Attempt } from '../../store/runDocument.ts';
import type { AgentMeasure } from '../../store/workflows.ts';

/** What an agent does in a step. */
export const ROLES = ['plan', 'execute', 'review'] as const;

export type AgentRole = (typeof ROLES)[number];

/** Capabilities from 0 to 1, and the context window in tokens. */
interface Capabilities {
  readonly planning: number;
  readonly execution: number;
  readonly review: number;
  readonly contextWindow: number;
}

export interface AgentProfile {
  readonly name: string;
  readonly capabilities: Capabilities;
}

/** In the specification's order. */
export const PROFILES: readonly AgentProfile[] = [
  {
    name: 'claude',
    capabilities: { planning: 0.95, execution: 0.85, review: 0.9, contextWindow: 200_000 },
  },
  {
    name: 'gemini',
    capabilities: { planning: 0.85, execution: 0.95, review: 0.8, contextWindow: 1_000_000 },
  },
];

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
export const CAPABILITY_OF = {
  plan: 'planning',
  execute: 'execution',
  review: 'review',
} as const satisfies Record<AgentRole, keyof Capabilities>;

const ROLE_WORDS: ReadonlyMap<string, AgentRole> = new Map([
  ['plan', 'plan'],
  ['planner', 'plan'],
  ['planning', 'plan'],
  ['execute', 'execute'],
  ['executor', 'execute'],
  ['execution', 'execute'],
  ['review', 'review'],
  ['reviewer', 'review'],
  ['reviewing', 'review'],
]);

/** The role that a word means, as role or as capability; undefined where it means none. */
export function roleNamed(word: string): AgentRole | undefined {
  return ROLE_WORDS.get(word.trim().toLowerCase());
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
  const measures = new Map<string, AgentMeasure>();
  for (const { agent, end, milliseconds } of attempts) {
    if (UNMEASURED.includes(end)) continue;
    const { requests = 0, answered = 0, milliseconds: before = 0 } = measures.get(agent) ?? {};
    const isAnswer = end === 'answered';
    measures.set(agent, {
      agent,
      requests: requests + 1,
      answered: answered + Number(isAnswer),
      milliseconds: before + (isAnswer ? milliseconds : 0),
    });
  }
  return [...measures.values()];
}

export interface AgentMetrics {
  /** Milliseconds from request to the end of the answer, on average. */
  readonly avgResponseTime?: number;
  /** From 0 to 1. */
  readonly successRate: number;
  readonly totalRequests: number;
}

/** Undefined without a request: nothing is made up. */
export function metricsOf(measure: AgentMeasure | undefined): AgentMetrics | undefined {
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
