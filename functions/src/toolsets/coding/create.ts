import type { AgentMembership } from '../coordination/index.ts';
import type { CodingChanges } from './rules/changing.ts';
import type { CodingService } from './rules/coding.ts';
import type { CodingRunners } from './rules/runners.ts';

/** What the tools ask. */
export interface CodingServices {
  readonly coding: CodingService;
  readonly codingChanges: CodingChanges;
  readonly codingRunners: CodingRunners;
  readonly membership: AgentMembership;
}
