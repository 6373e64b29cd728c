/** How well agents suit a task, and why. Source: spec/orchestration.md, get_capabilities. */
import type { Availability } from '../ports.ts';
import { type AgentProfile, CAPABILITY_OF } from './profile.ts';
import { isKnownLanguage, type Requirements } from './requirements.ts';

/** A hosted agent as it stands now. */
export interface Standing extends AgentProfile {
  readonly availability: Availability;
}

export interface Recommendation {
  readonly agent: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
}

/** From here on a capability is called good. */
const GOOD = 0.8;

/**
 * Best first. A score is the capability for the role; an agent that lacks something never scores above one that
 * lacks nothing, and stands after it where they are even.
 */
export function recommend(
  standings: readonly Standing[],
  requirements: Requirements,
): readonly Recommendation[] {
  const capability = CAPABILITY_OF[requirements.role];
  const best = Math.max(...standings.map(({ capabilities }) => capabilities[capability]));
  const judged = standings.map((standing) => {
    const warnings = warningsFor(standing, requirements);
    return { standing, warnings, own: standing.capabilities[capability] };
  });
  const ceiling = Math.min(1, ...judged.filter(lacksNothing).map(({ own }) => own));
  return judged
    .map(({ standing, warnings, own }) => ({
      agent: standing.name,
      score: warnings.length === 0 ? own : Math.min(own, ceiling),
      reasons: [strength(own, own === best, capability), ...furtherReasons(standing, requirements)],
      warnings,
    }))
    .sort((left, right) => right.score - left.score || left.warnings.length - right.warnings.length);
}

function lacksNothing({ warnings }: { readonly warnings: readonly string[] }): boolean {
  return warnings.length === 0;
}

function strength(own: number, isBest: boolean, capability: string): string {
  const word = isBest ? 'Best' : own >= GOOD ? 'Good' : 'Some';
  return `${word} ${capability} capability`;
}

/** For who can take the whole task; otherwise they are no reasons to give it to them. */
function furtherReasons(standing: Standing, { language, contextSize }: Requirements): readonly string[] {
  if (!fits(standing, contextSize)) return [];
  return language !== undefined && isKnownLanguage(language) ? [`Supports ${language}`] : [];
}

function warningsFor(standing: Standing, { contextSize, language }: Requirements): readonly string[] {
  const { availability } = standing;
  return [
    ...(fits(standing, contextSize) ? [] : ['Lower context window than required']),
    ...(language === undefined || isKnownLanguage(language) ? [] : [`Nothing is known about ${language}`]),
    ...(availability.available ? [] : [`Unavailable: ${availability.reason}`]),
  ];
}

function fits({ capabilities }: Standing, contextSize: number | undefined): boolean {
  return contextSize === undefined || contextSize <= capabilities.contextWindow;
}
