/**
 * Everything that can be asked for: the tools of this deployment, as their definitions say, and the
 * capabilities that agents declare. Source: spec/network.md, system.listSkills.
 */
import type { JsonObject } from '../json.ts';
import { folded, matchesWords, searchWords } from '../search.ts';
import type { OfferedSkill, SkillReader } from './readers.ts';

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

export interface SkillRequest {
  readonly category?: string | undefined;
  readonly search?: string | undefined;
  readonly includeDeprecated: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface SkillPage {
  readonly skills: readonly Skill[];
  readonly total: number;
}

export class SkillRegistry {
  private readonly capabilities: SkillReader;

  constructor(capabilities: SkillReader) {
    this.capabilities = capabilities;
  }

  /**
   * The tools first, in their order, then capabilities by name.
   * @param tools all that there are
   */
  async find(tools: readonly Skill[], request: SkillRequest): Promise<SkillPage> {
    const { category, includeDeprecated, limit, offset } = request;
    const words = searchWords(request.search ?? '');
    const matching = tools.filter(
      (tool) =>
        (category === undefined || folded(tool.category) === folded(category)) &&
        matchesWords(`${tool.name} ${tool.description}`, words),
    );
    const own = matching.slice(offset, offset + limit);
    const { skills, total } = await this.capabilities.find(
      { category, words, includeDeprecated },
      Math.max(0, offset - matching.length),
      limit - own.length,
    );
    return { skills: [...own, ...skills.map(capabilitySkill)], total: matching.length + total };
  }
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
