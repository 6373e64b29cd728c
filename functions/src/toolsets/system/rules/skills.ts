/**
 * Everything that can be asked for: the tools of this deployment, as their definitions say, and the
 * capabilities that agents declare. Source: spec/network.md, system.listSkills.
 */
import type { OfferedSkill } from '../../../access/rules/skills.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { folded, matchesWords, searchWords } from '../../../kernel/text.ts';
import type { SystemPorts } from './ports.ts';

export interface Skill {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly version: string;
  readonly author: string;
  readonly requirements: readonly string[];
  readonly parameters?: JsonObject;
  readonly examples?: readonly JsonObject[];
  readonly deprecated: boolean;
}

interface SkillRequest {
  readonly category?: string | undefined;
  readonly search?: string | undefined;
  readonly includeDeprecated: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** Finds skills among all tools and the capabilities of agents: the tools first, in their order, then by name. */
export type FindSkills = (
  tools: readonly Skill[],
  request: SkillRequest,
) => Promise<{ readonly skills: readonly Skill[]; readonly total: number }>;

export function findSkillsWith(capabilities: SystemPorts['skills']): FindSkills {
  return async (tools, { category, search = '', includeDeprecated, limit, offset }) => {
    const words = searchWords(search);
    const matching = tools.filter(
      (tool) =>
        (category === undefined || folded(tool.category) === folded(category)) &&
        matchesWords(`${tool.name} ${tool.description}`, words),
    );
    const own = matching.slice(offset, offset + limit);
    const { skills, total } = await capabilities.find(
      { category, words, includeDeprecated },
      Math.max(0, offset - matching.length),
      limit - own.length,
    );
    return { skills: [...own, ...skills.map(capabilitySkill)], total: matching.length + total };
  };
}

function capabilitySkill({ agents, ...skill }: OfferedSkill): Skill {
  const have = agents === 1 ? 'One agent has it' : `${agents} agents have it`;
  return {
    ...skill,
    description: `A capability of agents. ${have}; a task asks for it by its name.`,
    requirements: [],
    deprecated: agents === 0,
  };
}

export interface SkillQuery {
  /** Without regard to case and accents. */
  readonly category?: string | undefined;
  /** Each must begin a word of the name; as search.ts writes them. */
  readonly words: readonly string[];
  readonly includeDeprecated: boolean;
}
