/** Chooses a workflow and agents where the caller leaves that open, and says why. */
import { type Agent, foldedCapability } from '../../../../access/rules/agent.ts';
import { byteLength } from '../../../../kernel/json.ts';
import type { Slice } from '../../../../kernel/paging.ts';
import { estimatedTokens } from '../calls/budget.ts';
import type { HostedAgent, OrchestrationPorts } from '../ports.ts';
import { agentsOf, type Step, type Workflow, withSteps } from '../workflows/definition.ts';
import {
  type AgentMetrics,
  type AgentRole,
  AUTO,
  CAPABILITY_OF,
  metricsOf,
  NETWORK,
  PROFILES,
  roleNamed,
} from './profile.ts';
import {
  type AgentStatus,
  type InferredRequirements,
  inferRequirements,
  type Recommendation,
  type Requirements,
  recommend,
} from './requirements.ts';

/** Longer tasks are planned first, in characters. */
const LONG = 600;

const COMPARING =
  /\b(best|optimi[sz]e|compare|alternatives?|which is better|several (ways|options|solutions))\b/i;
const REFINING =
  /\b(polish|refine|iterat\w*|perfect|production[- ]ready|high[- ]quality|until (it|all|every))\b/i;
const BUILDING =
  /\b(build|create|implement|develop|design|migrate|refactor|set up)\b[^.?!]*\b(app\w*|api|system|service|component|module|library|pipeline|website|server|database|platform|scraper|tool)\b/i;
const LIST_ITEM = /^[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]/;

/** How much of a task is looked at for what kind it is, in characters: a bound on what the looking costs. */
const LOOKED_AT = 4000;

/** @param available how many hosted agents can be asked now */
export function chooseWorkflow(
  prompt: string,
  available: number,
): { readonly workflow: string; readonly reason: string } {
  const beginning = prompt.slice(0, LOOKED_AT);
  const [workflow, why] = workflowWithReason(beginning, prompt.length, available);
  return { workflow, reason: `${workflow}: ${why}` };
}

function workflowWithReason(beginning: string, length: number, available: number): [string, string] {
  if (REFINING.test(beginning)) return ['iterative', 'the task asks for work that is refined.'];
  if (COMPARING.test(beginning)) {
    const why = 'the task asks for the best of several solutions';
    return available > 1
      ? ['competitive', `${why}.`]
      : ['direct', `${why}, but only one agent is available.`];
  }
  if (length > LONG || hasParts(beginning)) return ['plan-execute', 'the task has several parts.'];
  if (BUILDING.test(beginning)) return ['plan-execute', 'the task is to build something.'];
  return ['direct', 'the task is a single one.'];
}

function hasParts(text: string): boolean {
  const items = text.split('\n').filter((line) => LIST_ITEM.test(line));
  return items.length > 1 || (text.match(/\bthen\b/gi) ?? []).length > 1;
}

/**
 * @param overrides of a call, by steps' names; time-outs in milliseconds
 * @param preferred stands in for `auto` where the caller prefers an agent
 * @returns the workflow, every step of which names its agents, none `auto`; and why each `auto` became what it is
 */
export function assignAgents(
  workflow: Workflow,
  input: string,
  agentStatuses: readonly AgentStatus[],
  overrides: {
    readonly agents?: Readonly<Record<string, string>>;
    readonly timeouts?: Readonly<Record<string, number>>;
  },
  preferred?: string,
): { readonly workflow: Workflow; readonly reasons: readonly string[] } {
  const reasons: string[] = [];
  const agents = new Map(Object.entries(overrides.agents ?? {}));
  const timeouts = new Map(Object.entries(overrides.timeouts ?? {}));
  const contextSize = estimatedTokens(byteLength(input));
  const assigned = (step: Step): Step => {
    const timeout = timeouts.get(step.name) ?? step.timeout;
    const named = agents.get(step.name);
    if (named === undefined && !agentsOf(step).includes(AUTO)) return { ...step, timeout };
    const wanted = named ?? preferred ?? AUTO;
    const { agents: _several, mode: _mode, ...single } = step;
    if (wanted !== AUTO) return { ...single, agent: wanted, timeout };
    const { agent, reason } = bestFor(step.role, contextSize, agentStatuses);
    reasons.push(`${step.name}: ${reason}`);
    return { ...single, agent, timeout };
  };
  return { workflow: withSteps(workflow, assigned), reasons };
}

function bestFor(role: AgentRole, contextSize: number, agentStatuses: readonly AgentStatus[]) {
  const [best] = recommend(agentStatuses, { role, contextSize });
  if (best === undefined) throw new Error('There are no hosted agents.');
  const but = best.warnings.length === 0 ? '' : `, though: ${best.warnings.join('; ')}`;
  return { agent: best.agent, reason: `${best.agent}: ${best.reasons.join(', ')} (${best.score})${but}.` };
}

/** Who may answer in an agent's place, best first. */
export function standIns(
  agent: string,
  role: AgentRole,
  agentStatuses: readonly AgentStatus[],
): readonly string[] {
  if (agent === NETWORK) return [];
  return recommend(
    agentStatuses.filter(({ name }) => name !== agent),
    { role },
  ).map((one) => one.agent);
}

/** From here on an agent is capable of a role. */
const CAPABLE = 0.5;

/** The most live agents of the network that are listed. */
const MAX_LIVE = 50;

export interface ListedAgents {
  readonly hosted: readonly (HostedAgentStatus & { readonly metrics?: AgentMetrics })[];
  /** Those that a step for the network can reach. */
  readonly network: readonly Agent[];
  readonly moreOfNetwork: boolean;
}

type HostedAgentStatus = AgentStatus & { readonly model: string };

/** Hosted agents in the specification's order. */
export function agentStatusesOf(hosted: readonly HostedAgent[]): readonly HostedAgentStatus[] {
  return PROFILES.flatMap((profile) => {
    const agent = hosted.find(({ name }) => name === profile.name);
    return agent ? [{ ...profile, availability: agent.availability(), model: agent.model }] : [];
  });
}

interface Overview {
  /** Agents of a workspace that are alive, at most `limit`. */
  live(workspace: string, limit: number): Promise<Slice<Agent>>;
}

/** The agents that a workflow can be given to. Source: spec/orchestration.md, list_agents and get_capabilities. */
export class AgentRoster {
  private readonly ports: OrchestrationPorts;
  private readonly overview: Overview;

  constructor(ports: OrchestrationPorts, overview: Overview) {
    this.ports = ports;
    this.overview = overview;
  }

  /** The hosted agents, in the specification's order. */
  agentStatuses(): readonly HostedAgentStatus[] {
    return agentStatusesOf(this.ports.hosted());
  }

  /** @param role a role, or of agents of the network any capability */
  async list(workspace: string, role: string | undefined, withMetrics: boolean): Promise<ListedAgents> {
    const agentStatuses = this.agentStatuses().filter(
      (agentStatus) => role === undefined || isCapable(agentStatus, role),
    );
    const [measures, live] = await Promise.all([
      withMetrics ? this.ports.measures.read(agentStatuses.map(({ name }) => name)) : undefined,
      this.overview.live(workspace, MAX_LIVE),
    ]);
    const hosted = agentStatuses.map((agentStatus) => {
      const metrics = metricsOf(measures?.get(agentStatus.name));
      return { ...agentStatus, ...(metrics && { metrics }) };
    });
    const network = live.items.filter((agent) => role === undefined || hasCapability(agent, role));
    return { hosted, network, moreOfNetwork: live.more };
  }

  recommend(
    task: string,
    given: { [Name in keyof Requirements]?: Requirements[Name] | undefined },
  ): { readonly recommendations: readonly Recommendation[]; readonly inferred: InferredRequirements } {
    const inferred = inferRequirements(task, given);
    return { recommendations: recommend(this.agentStatuses(), inferred), inferred };
  }
}

function isCapable({ capabilities }: AgentStatus, word: string): boolean {
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
