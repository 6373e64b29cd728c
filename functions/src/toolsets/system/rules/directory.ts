/** Agents and skills of a workspace. Source: the network specification; docs/semantics.md#network. */
import type { Agent, OfferedSkill } from '../../../agents/rules/agent.ts';
import { availability, withPresence } from '../../../agents/rules/liveness.ts';
import type { AgentQuery } from '../../../agents/rules/ports.ts';
import { withTimeout } from '../../../kernel/concurrency.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { MemoCache } from '../../../kernel/memoCache.ts';
import type { CursorPage, ListCursor, ListPage } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import { folded, matchesWords, searchWords, wordsOf } from '../../../kernel/textSearch.ts';
import type { SkillFilter, SystemPorts } from './ports.ts';

/** Changes after which the cached summary is outdated. */
const SUMMARY_CHANGES = ['createAgent', 'replaceAgent', 'holdTask', 'releaseTask'] as const;

/** Time to wait for presence. After that, the results of the last sweep are used. */
const PRESENCE_TIMEOUT_MS = 1000;

export class AgentOverview extends Service<SystemPorts> {
  private readonly pages = new MemoCache<CursorPage<Agent>>();
  private readonly summaries = new MemoCache<Awaited<ReturnType<typeof countAgents>>>();

  async list(query: AgentQuery, limit: number, after: ListCursor | undefined) {
    const { items, ...end } = await this.pages.read(JSON.stringify([query, limit, after]), this.stamp(), () =>
      this.ports.directory.list(query, limit, after),
    );
    const { agents, asOf } = await this.present(items);
    // An agent may have gone offline after the sweep that stored its state.
    const wanted = agents.filter((one) => query.availability === undefined || availability(one) === query.availability);
    return { agents: wanted, asOf, ...end };
  }

  /** Returns the agents of a workspace that are online now, of `limit` agents that were online at the last sweep. */
  async live(workspace: string, limit: number): Promise<ListPage<Agent>> {
    const { items, more } = await this.ports.directory.online(workspace, limit);
    const { agents } = await this.present(items);
    return { items: agents.filter(({ status }) => status === 'active'), more };
  }

  summary(workspace: string) {
    return this.summaries.read(workspace, this.stamp(), () => countAgents(this.ports, workspace));
  }

  /** Cache key of the summary: it changes every second, and when this instance changes an agent. */
  private stamp(): string {
    const { store, clock } = this.ports;
    const changes = SUMMARY_CHANGES.map((kind) => store.committed(kind));
    return `${changes.join(' ')} ${Math.floor(clock.now().getTime() / 1000)}`;
  }

  /** Returns the agents with their state at the time `asOf`. */
  private async present(items: readonly Agent[]) {
    const { presence, log, clock } = this.ports;
    const active = items.flatMap(({ id, status }) => (status === 'active' ? [id] : []));
    const none: ReadonlyMap<string, Date> = new Map();
    const reading = active.length === 0 ? Promise.resolve(none) : presence.lastSeen(active);
    const seen = await withTimeout(reading, PRESENCE_TIMEOUT_MS, 'Presence').catch((error: unknown) => {
      log.warn('presence_not_read', { error });
      return none;
    });
    const asOf = clock.now();
    return { asOf, agents: items.map((agent) => withPresence(agent, seen.get(agent.id), asOf)) };
  }
}

/** Counts agents by state, without reading them. The offline count is from the last sweep, at most a minute ago. */
async function countAgents({ directory }: SystemPorts, workspace: string) {
  const [{ registered, online }, active, busy, error] = await Promise.all([
    directory.counts(workspace),
    directory.count(workspace, 'active'),
    directory.count(workspace, 'busy'),
    directory.count(workspace, 'error'),
  ]);
  // The counts are read in parallel. If an agent changes in between, they may not add up.
  const idle = Math.max(0, online - active - busy - error);
  return { total: registered, active, idle, busy, offline: registered - online, error };
}

/**
 * A tool of this deployment, or a capability that agents declared. Source: the network specification,
 * system.listSkills.
 */
export interface Skill extends Omit<OfferedSkill, 'agents' | 'workspace'> {
  readonly description: string;
  readonly requirements: string[];
  readonly parameters?: JsonObject;
  readonly examples?: JsonObject[];
  readonly deprecated: boolean;
}

interface SkillRequest extends Omit<SkillFilter, 'words'> {
  readonly search?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Maximum number of tools that are returned if no skill contains all words of a search. */
const MAX_CLOSEST = 5;

/** Returns the stems of a text's words: their first letters, which inflected forms of a word have in common. */
function stemsOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).map((word) => word.replace(/s$/, '').slice(0, 5)));
}

/** Returns the tools that contain the most words of a search, best first. Rare words, and words in names, count more. */
function closestTools(tools: readonly Skill[], search: string): readonly Skill[] {
  const indexed = tools.map((tool) => ({
    tool,
    places: [stemsOf(tool.name), stemsOf(`${tool.name} ${tool.description}`)],
  }));
  const scores = new Map(tools.map((tool) => [tool, 0]));
  for (const stem of stemsOf(search)) {
    const found = indexed.flatMap(({ tool, places }) => places.filter((place) => place.has(stem)).map(() => tool));
    const weight = Math.log(tools.length / new Set(found).size);
    for (const tool of found) scores.set(tool, (scores.get(tool) ?? 0) + weight);
  }
  const best = [...scores].filter(([, score]) => score > 0).sort(([, one], [, other]) => other - one);
  return best.slice(0, MAX_CLOSEST).map(([tool]) => tool);
}

/**
 * Finds tools and capabilities of a workspace's agents. Tools come first, then capabilities ordered by name. If none
 * contains all words of the search, the tools that contain the most words are returned.
 */
export function findSkillsWith(capabilities: SystemPorts['skills']) {
  return async (tools: readonly Skill[], request: SkillRequest) => {
    const { workspace, category, search = '', includeDeprecated, limit, offset } = request;
    const words = searchWords(search);
    const ofCategory = tools.filter((tool) => category === undefined || folded(tool.category) === folded(category));
    const matching = ofCategory.filter((tool) => matchesWords(`${tool.name} ${tool.description}`, words));
    const own = matching.slice(offset, offset + limit);
    const { skills, total } = await capabilities.find(
      { workspace, category, words, includeDeprecated },
      Math.max(0, offset - matching.length),
      limit - own.length,
    );
    if (matching.length + total > 0)
      return { skills: [...own, ...skills.map(capabilitySkill)], total: matching.length + total };
    const closest = closestTools(ofCategory, search);
    return { skills: closest.slice(offset, offset + limit), total: closest.length };
  };
}

function capabilitySkill({ agents, workspace: _, ...skill }: OfferedSkill): Skill {
  const have = agents === 1 ? 'One agent has it' : `${agents} agents have it`;
  return {
    ...skill,
    description: `Capability of agents. ${have}. Tasks can require it by its name.`,
    requirements: [],
    deprecated: agents === 0,
  };
}
