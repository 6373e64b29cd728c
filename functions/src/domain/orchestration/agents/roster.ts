/** The agents that a workflow can be given to. Source: spec/orchestration.md, list_agents and get_capabilities. */
import type { Agent } from '../../agents/agent.ts';
import type { Slice } from '../../readers.ts';
import { foldedCapability } from '../../tasks/capabilities.ts';
import type { HostedAgent } from '../ports.ts';
import type { OrchestrationPorts } from '../runPorts.ts';
import { type AgentMetrics, metricsOf } from './measure.ts';
import { CAPABILITY_OF, PROFILES, roleNamed } from './profile.ts';
import { type InferredRequirements, inferRequirements, type Requirements } from './requirements.ts';
import { type Recommendation, recommend, type Standing } from './scoring.ts';

/** From here on an agent is capable of a role. */
const CAPABLE = 0.5;

/** The most live agents of the network that are listed. */
const MAX_LIVE = 50;

export interface LiveAgents {
  /** Agents of a workspace that are alive, at most `limit`. */
  live(workspace: string, limit: number): Promise<Slice<Agent>>;
}

export interface ListedAgents {
  readonly hosted: readonly (HostedStanding & { readonly metrics?: AgentMetrics })[];
  /** Those that a step for the network can reach. */
  readonly network: readonly Agent[];
  readonly moreOfNetwork: boolean;
}

export type HostedStanding = Standing & { readonly model: string };

/** Hosted agents in the specification's order. */
export function standingsOf(hosted: readonly HostedAgent[]): readonly HostedStanding[] {
  return PROFILES.flatMap((profile) => {
    const agent = hosted.find(({ name }) => name === profile.name);
    return agent ? [{ ...profile, availability: agent.availability(), model: agent.model }] : [];
  });
}

export class AgentRoster {
  private readonly ports: OrchestrationPorts;
  private readonly overview: LiveAgents;

  constructor(ports: OrchestrationPorts, overview: LiveAgents) {
    this.ports = ports;
    this.overview = overview;
  }

  /** The hosted agents, in the specification's order. */
  standings(): readonly HostedStanding[] {
    return standingsOf(this.ports.hosted());
  }

  /** @param role a role, or of agents of the network any capability */
  async list(workspace: string, role: string | undefined, withMetrics: boolean): Promise<ListedAgents> {
    const standings = this.standings().filter((standing) => role === undefined || isCapable(standing, role));
    const [measures, live] = await Promise.all([
      withMetrics ? this.ports.measures.read(standings.map(({ name }) => name)) : undefined,
      this.overview.live(workspace, MAX_LIVE),
    ]);
    const hosted = standings.map((standing) => {
      const metrics = metricsOf(measures?.get(standing.name));
      return { ...standing, ...(metrics && { metrics }) };
    });
    const network = live.items.filter((agent) => role === undefined || hasCapability(agent, role));
    return { hosted, network, moreOfNetwork: live.more };
  }

  recommend(
    task: string,
    given: { [Name in keyof Requirements]?: Requirements[Name] | undefined },
  ): { readonly recommendations: readonly Recommendation[]; readonly inferred: InferredRequirements } {
    const inferred = inferRequirements(task, given);
    return { recommendations: recommend(this.standings(), inferred), inferred };
  }
}

function isCapable({ capabilities }: Standing, word: string): boolean {
  const role = roleNamed(word);
  return role !== undefined && capabilities[CAPABILITY_OF[role]] >= CAPABLE;
}

function hasCapability({ capabilities }: Agent, word: string): boolean {
  const names = capabilities.map(({ name }) => foldedCapability(name));
  const role = roleNamed(word);
  return (
    names.includes(foldedCapability(word)) ||
    names.some((name) => role !== undefined && roleNamed(name) === role)
  );
}
