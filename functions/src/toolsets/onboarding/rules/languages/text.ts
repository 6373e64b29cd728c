/** What a welcome says, in one language. The type leaves no language without one of its texts. */
import type { AgentType } from '../../../../access/rules/agent.ts';
import type { JsonObject } from '../../../../kernel/json.ts';

/** The first steps that a welcome may propose. */
export const STEP_NAMES = [
  'register',
  'checklist',
  'join',
  'queue',
  'status',
  'agents',
  'discoveries',
  'skills',
  'claim',
] as const;

export type StepName = (typeof STEP_NAMES)[number];

export interface StepText {
  readonly title: string;
  readonly description: string;
}

export interface WelcomeText {
  message(name: string): string;
  readonly systemOverview: string;
  readonly roles: Readonly<Record<AgentType, string>>;
  /** @param list the specializations, as listed with the language's own words */
  specializations(list: string): string;
  readonly steps: Readonly<Record<StepName, StepText>>;
  /** Said of a step whose tool the caller's endpoint does not list. */
  elsewhere(url: string): string;
  /** Whom to ask where a workspace has no leader yet. */
  readonly askWhoInvitedYou: string;
}

/** A call that somebody is told to make. */
export interface ProposedCall {
  /** Its full name: `coordination.claim_task`. */
  readonly tool: string;
  readonly args: JsonObject;
}
