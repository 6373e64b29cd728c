/** Ranks hosted agents for a task in a workspace. Source: the orchestration specification, get_capabilities. */

import { NO_ROUTING, pinnedFor, type Routing } from '../../../../access/rules/workspace.ts';
import type { Availability } from './model.ts';
import { type AgentProfile, type AgentRole, CAPABILITY_OF, isKnownLanguage, type Requirements } from './profile.ts';
import { evidenceOf, round, scoresOf, type WorkRecord } from './scoring.ts';

export type AgentStatus = AgentProfile & { readonly availability: Availability };

const GOOD = 0.8;

export interface Experience {
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
  const judged = agents.map(({ name, capabilities, availability }) => {
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
