/** Ranks hosted agents for a task, lists the available agents, and chooses a workflow and fallback agents. */

import { NO_ROUTING, pinnedFor, type Routing } from '../../../../access/rules/workspace.ts';
import { type Agent, foldedCapability } from '../../../../agents/rules/agent.ts';
import type { ListPage } from '../../../../kernel/paging.ts';
import { Service } from '../../../../kernel/ports.ts';
import type { OrchestrationPorts } from '../ports.ts';
import type { AgentProfile, Availability, HostedAgent } from './model.ts';
import {
  type AgentRole,
  CAPABILITY_OF,
  inferRequirements,
  isKnownLanguage,
  LOOKED_AT,
  metricsOf,
  NETWORK,
  type Requirements,
  roleNamed,
} from './profile.ts';
import { evidenceOf, round, scoresOf, type WorkRecord } from './scoring.ts';

export type AgentStatus = AgentProfile & { readonly availability: Availability };

const GOOD = 0.8;

interface Experience {
  readonly routing: Routing;
  readonly work: WorkRecord;
}

/** Returns one score per agent, in the given order. A score starts from the capability in the specification. */
export function scoresFor(role: AgentRole, agents: readonly AgentStatus[], work: WorkRecord) {
  const candidates = agents.map(({ name, capabilities }) => ({
    agent: name,
    capability: capabilities[CAPABILITY_OF[role]],
  }));
  return scoresOf(candidates, work[role]);
}

/**
 * Ranks agents for a task, best first, with scores from 0 to 1. A score is the agent's capability for the role,
 * adjusted by the agent's outcomes in the workspace. An agent with a warning never scores higher than an agent
 * without one, and follows it at equal scores. A pinned agent without warnings comes first. Source: the orchestration
 * specification, get_capabilities.
 */
export function recommend(
  agents: readonly AgentStatus[],
  requirements: Requirements,
  { routing, work }: Experience = { routing: NO_ROUTING, work: {} },
) {
  const { role, language, contextSize = 0 } = requirements;
  const capability = CAPABILITY_OF[role];
  const pinned = pinnedFor(routing, role);
  const standings = new Map(scoresFor(role, agents, work).map((one) => [one.agent, one]));
  const best = Math.max(...agents.map(({ capabilities }) => capabilities[capability]));
  const isKnown = isKnownLanguage(language);
  const judged = agents.map(({ name, capabilities, availability, price }) => {
    const number = capabilities[capability];
    const { score = number, record } = standings.get(name) ?? {};
    const word = number === best ? 'Best' : number >= GOOD ? 'Good' : 'Some';
    const isTooLarge = contextSize > capabilities.contextWindow;
    return {
      agent: name,
      score: round(score, 2),
      reasons: joinTexts(
        name === pinned && `Pinned for ${role} in this workspace`,
        `${word} ${capability} capability`,
        // A language or a large context window is an advantage only if the agent can process the whole task.
        isKnown && !isTooLarge && `Supports ${language}`,
        record && evidenceOf(record, role),
      ),
      warnings: joinTexts(
        isTooLarge && 'Context window smaller than required',
        language !== undefined && !isKnown && `Unknown language: ${language}`,
        !availability.available && `Unavailable: ${availability.reason}`,
        routing.forbidden.includes(name) && 'Forbidden in this workspace',
        price === undefined && 'No price in models.json, so budgets in US dollars exclude it',
      ),
    };
  });
  const faultless = judged.filter(({ warnings }) => warnings.length === 0).map(({ score }) => score);
  const ceiling = Math.min(1, ...faultless);
  const first = ({ agent, warnings }: (typeof judged)[number]) => (agent === pinned && warnings.length === 0 ? 1 : 0);
  return judged
    .map((one) => (one.warnings.length === 0 ? one : { ...one, score: Math.min(one.score, ceiling) }))
    .sort(
      (left, right) =>
        first(right) - first(left) || right.score - left.score || left.warnings.length - right.warnings.length,
    );
}

function joinTexts(...texts: readonly (string | false | undefined)[]): string[] {
  return texts.filter((text) => typeof text === 'string');
}

/** Length in characters above which a prompt gets a workflow that plans first. */
const LONG = 600;
const COMPARING = /\b(best|optimi[sz]e|compare|alternatives?|which is better|several (ways|options|solutions))\b/i;
const REFINING = /\b(polish|refine|iterat\w*|perfect|production[- ]ready|high[- ]quality|until (it|all|every))\b/i;
const BUILDING =
  /\b(build|create|implement|develop|design|migrate|refactor|set up)\b[^.?!]*\b(app\w*|api|system|service|component|module|library|pipeline|website|server|database|platform|scraper|tool)\b/i;
const LIST_ITEM = /^[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]/;

/** Chooses the workflow for `auto`. @param available number of hosted agents that are available now */
export function chooseWorkflow(prompt: string, available: number) {
  const beginning = prompt.slice(0, LOOKED_AT);
  const chosen = (workflow: string, reason: string) => ({ workflow, reason: `${workflow}: ${reason}` });
  if (REFINING.test(beginning)) return chosen('iterative', 'the task asks for refined work.');
  if (COMPARING.test(beginning)) {
    const reason = 'the task asks for the best of several solutions';
    return available > 1
      ? chosen('competitive', `${reason}.`)
      : chosen('direct', `${reason}, but only one agent is available.`);
  }
  if (prompt.length > LONG || hasParts(beginning)) return chosen('plan-execute', 'the task has several parts.');
  if (BUILDING.test(beginning)) return chosen('plan-execute', 'the task is to build something.');
  return chosen('direct', 'the task has a single part.');
}

function hasParts(text: string): boolean {
  const items = text.split('\n').filter((line) => LIST_ITEM.test(line));
  return items.length > 1 || (text.match(/\bthen\b/gi) ?? []).length > 1;
}

/** Returns the agents that can replace an agent, best first. Live agents have no fallback agents. */
export function fallbackAgents(agent: string, role: AgentRole, agentStatuses: readonly AgentStatus[]) {
  const others = agent === NETWORK ? [] : agentStatuses.filter(({ name }) => name !== agent);
  return recommend(others, { role }).map((one) => one.agent);
}

/** Minimum capability for a role. Agents below it are not listed for the role. */
const CAPABLE = 0.5;
const MAX_LIVE = 50;

/** Returns the hosted agents with their current availability, in the order of models.json. */
export function agentStatusesOf(hosted: readonly HostedAgent[]): readonly AgentStatus[] {
  return hosted.map((agent) => {
    const { name, provider, model, price, capabilities, maxOutputTokens } = agent;
    return { name, provider, model, price, capabilities, maxOutputTokens, availability: agent.availability() };
  });
}

export interface Situation extends Experience {
  readonly workspace: string;
  readonly agentStatuses: readonly AgentStatus[];
}

export interface AgentOverview {
  readonly overview: { live(workspace: string, limit: number): Promise<ListPage<Agent>> };
}

/** Lists agents for workflow steps. Source: the orchestration specification, list_agents and get_capabilities. */
export class AgentRoster extends Service<OrchestrationPorts & AgentOverview> {
  agentStatuses() {
    return agentStatusesOf(this.ports.hosted());
  }

  /** Reads the data on which the selection of agents in a workspace depends, which is always two documents. */
  async situation(workspace: string): Promise<Situation> {
    const { workspaces, workRecords } = this.ports;
    const [found, work] = await Promise.all([workspaces.find(workspace), workRecords.find(workspace)]);
    const { pinned_agents: pins = [], forbidden_agents: forbidden = [] } = found?.value ?? {};
    return { workspace, agentStatuses: this.agentStatuses(), routing: { pins, forbidden }, work };
  }

  /** Lists the hosted and the live agents. @param word optional filter: a role, or a skill of live agents */
  async list(workspace: string, word: string | undefined, withMetrics: boolean) {
    const role = word === undefined ? undefined : roleNamed(word);
    const capable = this.agentStatuses().filter(
      ({ capabilities }) => word === undefined || (role !== undefined && capabilities[CAPABILITY_OF[role]] >= CAPABLE),
    );
    const [measures, live] = await Promise.all([
      withMetrics ? this.ports.measures.read(capable.map(({ name }) => name)) : undefined,
      this.ports.overview.live(workspace, MAX_LIVE),
    ]);
    const hosted = capable.map((agent) => ({ ...agent, metrics: metricsOf(measures?.get(agent.name)) }));
    const network = live.items.filter((agent) => word === undefined || hasCapability(agent, word));
    return { hosted, network, moreOfNetwork: live.more };
  }

  async recommend(workspace: string, ...[task, given]: Parameters<typeof inferRequirements>) {
    const { notes, ...requirements } = inferRequirements(task, given);
    const { agentStatuses, ...experience } = await this.situation(workspace);
    return { recommendations: recommend(agentStatuses, requirements, experience), inferred: notes };
  }
}

function hasCapability({ capability_details: capabilities }: Agent, word: string): boolean {
  const names = capabilities.map(({ name }) => foldedCapability(name));
  const role = roleNamed(word);
  return names.includes(foldedCapability(word)) || names.some((name) => role !== undefined && roleNamed(name) === role);
}
